internal import Holdfast
internal import HoldfastHTTP2
internal import HoldfastTransport

/// Requests that a gateway sends: this one, another of its fleet, or one that is led here by mistake.
extension HTTP2IngressSession {
    /// Answers that this is not the push service. Whoever sends it keeps the notification, and tells its operator.
    mutating func refuseRelayed(_ request: HTTP2ServerEvents.Request, _ fields: RequestFields) {
        let its = Waiting(
            streamID: request.streamID, id: fields.ownID.flatMap { NotificationID($0) } ?? ids.next(), idText: nil,
            form: fields.purpose == .broadcast ? .broadcast : .device, answering: nil)
        troubles[.refusedGateways] =
            "a gateway of Holdfast sends here what was accepted already: this one itself, or another. Its push service's name "
            + "leads here, through a port forward, a balancer or a hosts file: mend that where it runs. Nothing of it is taken, "
            + "and nothing is lost"
        refuse(its, RefusalAnswer(.fromGateway), of: fields)
    }
}

extension Reason {
    /// A gateway sends the request, and this is another.
    static let fromGateway = Reason(rawValue: RelayMark.refusal)
}
