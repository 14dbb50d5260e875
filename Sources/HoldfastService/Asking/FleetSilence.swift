internal import Holdfast
internal import HoldfastControl
internal import HoldfastPostgres

/// Why nothing is known of a journal of the fleet that was asked for something.
package struct FleetSilence: Error, Sendable {
    package enum Kind: Sendable {
        /// It has no owner now.
        case unowned
        /// Its owner did not take the request, which is withdrawn.
        case untaken
        /// Its owner took the request, or may have, and has not answered.
        case unanswered
        /// The request failed, at the owner or on the way.
        case failed
    }

    package let kind: Kind
    /// What happened.
    private let event: String
    /// With what follows for a request that is this one alone.
    private let message: String

    /// A journal that was given up with something left in it.
    init(unowned journal: ListedJournal) {
        kind = .unowned
        event = "it has no owner since \(journal.host ?? "its host") gave it up"
        message = "\(event); a host that runs takes it over"
    }

    /// A journal whose owner was not asked.
    init(unasked why: String) { (kind, event, message) = (.untaken, why, why) }

    /// - Parameter message: of the error.
    init(_ error: any Error, _ message: String) {
        let control = error as? ControlError
        kind =
            switch control?.code {
            case .notServed: .untaken
            case .timedOut, .disconnected: .unanswered
            default: .failed
            }
        self.message = message
        event = control?.event ?? message
    }

    /// For people.
    ///
    /// - Parameter order: the number of an order that lasts, which the request was to have carried out.
    package func words(order: Int64?) -> String {
        guard let order else { return message }
        let kept = "order \(order) is kept"
        return switch kind {
        case .unowned: "\(event); \(kept), and whoever takes the journal carries it out before anything is sent"
        case .untaken:
            "\(event); \(kept), and the journal's owner carries it out as soon as it can: until then it may still send"
        case .unanswered:
            "\(event): whether it is carried out there is not known; \(kept), and the journal's owner carries it out as soon as "
                + "it can, if it has not"
        case .failed: "\(event); \(kept), and carried out there as soon as a host can"
        }
    }
}
