/// An error that revokes confirmations by silence: entries that are kept aside are sent again.
struct LateError: Sendable {
    let connection: Int
    let denied: QuietlyConfirmed.Denied
    /// The service's answer to the entry that it names.
    let result: SendResult?
    /// The number of revoked entries that were not kept any more, and are lost.
    let forgotten: Int

    /// Denied entries of which nothing is kept any more, when so many were recalled.
    func lost(recalled: Int) -> Int { forgotten + denied.count - recalled }
}
