package import HoldfastPQ

extension PQFacts {
    /// That nothing can be written, by a setting that may be taken back at any time, such as after a provider found the disk full;
    /// `nil` where it can, and of a standby.
    package var readOnlyRefusal: PQError? {
        guard isReadOnly, !isInRecovery else { return nil }
        let message =
            "each transaction of role \(user) in database \(database) begins read-only (default_transaction_read_only)"
        return PQError(
            .refused, message,
            server: ServerReport(severity: "ERROR", sqlState: SchemaError.readOnlyState, message: message))
    }
}
