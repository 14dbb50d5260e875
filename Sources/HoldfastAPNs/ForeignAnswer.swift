internal import Holdfast
internal import HoldfastHTTP2
internal import HoldfastRequests

extension SendResult {
    /// Recognizes an answer that is not in Apple's form, and says who gave it.
    ///
    /// Apple answers success with no body, and errors with a JSON `reason`. A success with a body (which nobody has seen from
    /// Apple so far) must name the notification in its header and be JSON; any other is a portal's or a proxy's.
    mutating func look(at response: HTTP2Response) {
        if response.status == 200, !response.body.isEmpty,
            !response.namesNotification || !ErrorBody.isObject(response.body)
        {
            verdict = .foreign
        }
        guard verdict == .foreign else { return }
        detail = response.sender
    }
}

extension HTTP2Response {
    /// Whether it has the id that Apple's answers have: the notification's, or the broadcast's request's.
    fileprivate var namesNotification: Bool {
        headers.first(name: "apns-id") != nil || headers.first(name: "apns-request-id") != nil
    }
}
