package import HoldfastPQ

/// A note as it was read.
package struct FleetNote: Hashable, Sendable {
    package var value: [UInt8]
    /// From 1 on; each change has the next.
    package var version: Int64

    package init(value: [UInt8], version: Int64) {
        self.value = value
        self.version = version
    }
}

/// Notes that hosts share: small values by their names, each changed only by a host that has seen the value before.
package struct FleetNotes: Sendable {
    private let read: PQStatement
    private let swap: PQStatement

    package init(_ schema: SchemaName) {
        read = PQStatement("SELECT value, version FROM \(schema.quoted).read_note($1)", preparedAs: "read_note")
        swap = PQStatement("SELECT \(schema.quoted).swap_note($1, $2, $3)", preparedAs: "swap_note")
    }

    /// - Returns: nil when there is no note of this name.
    package func note(
        _ name: String, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> FleetNote? {
        var parameters = PQParameters()
        parameters.append(name)
        let rows = try connection.run([PQStep(read, parameters, reading: true)], by: deadline)[0].rows
        return try rows.first.map { row throws(PQError) in
            FleetNote(value: try row.bytes(0), version: try row.int8(1))
        }
    }

    /// Writes a note if it is still the one that was seen.
    ///
    /// - Parameter seen: the version; 0 for none.
    /// - Returns: the new version; nil when the note has changed.
    package func swap(
        _ name: String, seen: Int64, _ value: [UInt8], _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> Int64? {
        var parameters = PQParameters()
        parameters.append(name)
        parameters.append(seen)
        parameters.append(value)
        let row = try connection.run([PQStep(swap, parameters)], by: deadline)[0].row(0)
        return try row.isNull(0) ? nil : try row.int8(0)
    }
}
