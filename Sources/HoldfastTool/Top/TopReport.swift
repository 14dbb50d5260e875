internal import Holdfast
internal import HoldfastControl

/// One look of `holdfast top`. The names of its properties are those of the JSON.
struct TopReport: Encodable {
    var at: ExactTime
    var journal: String
    var owner: String?
    /// `nil` if the owner has no engine, or has just begun.
    var rates: TopRates?
    var reasons: [TopReason]
    /// As the control socket says it.
    var status: StatusForm

    init(_ model: TopModel, _ sample: TopSample) {
        at = ExactTime(sample.wall)
        journal = model.journal
        owner = model.owner
        rates = model.history.rates.last
        reasons = model.history.reasons
        status = StatusForm(sample.status)
    }
}
