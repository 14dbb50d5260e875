internal import Holdfast

/// Who may submit at a listener.
final class SubmitterAccess: Sendable {
    /// Whether everybody may who reaches it.
    let isOpen: Bool

    init(
        _ configuration: HTTP2IngressConfiguration, _ submitters: [SubmitterKey], _ producer: Producer
    ) throws(GatewayError) {
        isOpen = configuration.listen.isLoopback
    }
}

/// Who submits on one connection.
struct SubmitterCheck {
    private var access: SubmitterAccess
    /// Whether the client has shown a certificate that we know.
    var isTrusted = false

    /// Whom a request has shown to come from.
    enum Submitter { case trusted }

    init(_ access: SubmitterAccess) { self.access = access }

    mutating func change(to access: SubmitterAccess) { self.access = access }

    mutating func renew() {}

    mutating func submitter(_ authorization: String?, now: WallTime) throws(Refusal) -> Submitter {
        if access.isOpen || isTrusted { return .trusted }
        throw Refusal(.missingProviderToken, "there is no provider token")
    }

    func check(_ submitter: Submitter, for topic: String) throws(Refusal) {}
}
