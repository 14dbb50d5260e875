extension Migration {
    /// What is scheduled is claimed by the clock of the host that sends it, and not by the database's. Programs before this call the
    /// function of version 14.
    static let version17 = Migration(
        version: 17, readableFrom: 7, functions: ["claim_outbox(int4, int8, int4, int8, int8)"]
    ) { schema in claimingByHostsClock(schema) }
}
