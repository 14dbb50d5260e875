/// What a connection is, read when it was made.
package struct PQFacts: Sendable {
    /// The host of the connection string that was reached; empty for libpq's own socket.
    package let host: String
    /// The address that the host had.
    package let address: String?
    package let port: String
    package let database: String
    package let user: String
    /// Such as 150018.
    package let serverVersion: Int
    /// The process of the session, as in `pg_stat_activity`.
    package let backend: Int32
    /// Whether it is a socket or an address of this machine.
    package let isLocal: Bool
    /// The mode that was asked for. Below `verify-full` the server was not verified, however the bytes are protected.
    package let security: PQSecurity
    /// `nil` when the bytes are not encrypted.
    package let encryption: Encryption?
    /// Whether the server is a standby.
    package let isInRecovery: Bool
    /// Whether each transaction begins read-only, by a setting of the role, the database or the server.
    package var isReadOnly: Bool { settings["default_transaction_read_only"] == "on" }
    /// The role whose rights the session has, where a setting (`role`) makes it another than the one that has connected.
    package var actingRole: String? { settings["acting role"] }
    /// Settings of the session by their names, as the server has them.
    package let settings: [String: String]

    package struct Encryption: Hashable, Sendable {
        /// Such as `TLSv1.3`.
        package let version: String
        package let cipher: String
    }

    /// Whether the server has proven its name by its certificate.
    package var isServerVerified: Bool { security == .verifyFull && encryption != nil }
}
