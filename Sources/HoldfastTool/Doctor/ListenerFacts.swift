internal import Holdfast
internal import HoldfastService
internal import HoldfastTransport

/// The certificate that a listener shows to senders.
struct ListenerFacts: Sendable {
    enum Certificate: Sendable {
        /// In the clear.
        case none
        case good(until: Int64)
        case unusable(String)
    }

    var name: String
    var listen: String
    var certificate: Certificate

    /// - Parameter now: compared with the certificate's dates.
    func finding(at now: WallTime) -> DoctorFinding {
        let next =
            "get a new one (`holdfast gateway certificate` makes those of an authority of your own), then reload the service"
        switch certificate {
        case .none: return .ok(.listeners, "certificate", name, "\(listen), in the clear")
        case .unusable(let why): return .fault(.listeners, "certificate", name, why, next: next)
        case .good(let end):
            let words = "\(listen), with a certificate that is good until \(ChainFacts.date(end))"
            guard let expiry = ExpiryJudge.words(end, now: now, days: 30) else {
                return .ok(.listeners, "certificate", name, words)
            }
            if expiry.isNear {
                return .fault(.listeners, "certificate", name, "\(words): \(expiry.text)", next: next)
            }
            return .warning(.listeners, "certificate", name, "\(words): \(expiry.text)", next: next)
        }
    }
}
