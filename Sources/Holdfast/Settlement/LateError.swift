/// An error that comes after silence had confirmed what it denies: what is kept aside goes again.
struct LateError: Sendable {
    let connection: Int
    let denied: QuietlyConfirmed.Denied
    /// The service's answer to the entry that it names.
    let result: SendResult?
    /// Denied entries that nobody remembers: they are lost.
    let forgotten: Int

    /// Denied entries of which nothing is kept any more, when so many were recalled.
    func lost(recalled: Int) -> Int { forgotten + denied.count - recalled }
}
