/// Notes what one write transaction changes. Stays on the transaction's thread.
package final class EffectRecorder {
    private let environment: Environment
    private var writer: EffectWriter? = EffectWriter()
    /// The numbers of tables, by their handles.
    private var numbers: [UInt32: Int] = [:]

    init(_ environment: Environment) { self.environment = environment }

    /// A table was made. It is there in a copy, too, though nothing may ever be put into it.
    func make(_ table: UInt32) throws(LMDBError) {
        guard !isFinished else { return }
        _ = try number(of: table)
    }

    func put(_ key: Span<UInt8>, _ value: Span<UInt8>, in table: UInt32) throws(LMDBError) {
        guard !isFinished else { return }
        let number = try number(of: table)
        writer?.put(key, value, in: number)
    }

    func delete(_ key: Span<UInt8>, in table: UInt32) throws(LMDBError) {
        guard !isFinished else { return }
        let number = try number(of: table)
        writer?.delete(key, in: number)
    }

    private var isFinished: Bool { writer == nil }

    /// Notes nothing more.
    ///
    /// - Returns: nil where nothing was changed.
    func finish() -> [UInt8]? {
        guard let writer = writer.take(), !writer.isEmpty else { return nil }
        return writer.finish()
    }

    private func number(of table: UInt32) throws(LMDBError) -> Int {
        if let number = numbers[table] { return number }
        guard let name = environment.name(of: table), let number = writer?.table(name) else {
            throw LMDBError(.notKept, "changes of table \(table)", path: environment.path)
        }
        numbers[table] = number
        return number
    }
}
