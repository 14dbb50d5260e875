import RawClients

/// For trials, in which the gateway may end a connection at any time.
extension RawClient {
    /// - Returns: false when the gateway has ended the connection.
    func isTaken(_ bytes: some Sequence<UInt8>) async -> Bool {
        do {
            try await send(bytes)
            return true
        } catch {
            return false
        }
    }

    func endOutput() async { do { try await closeOutput() } catch {} }
}
