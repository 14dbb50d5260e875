import Holdfast
import HoldfastLMDB

/// Seals the rows of one table.
final class TableSeal: RowSeal {
    let kind: SealedRow.Kind
    private let core: SealCore
    /// The only key whose row is sealed; nil for all.
    private let onlyKey: [UInt8]?
    let hidesKeys: Bool

    init(_ kind: SealedRow.Kind, _ core: SealCore, onlyKey: [UInt8]? = nil) {
        self.kind = kind
        self.core = core
        self.onlyKey = onlyKey
        hidesKeys = kind == .tokens || kind == .addresses
    }

    func covers(_ key: Span<UInt8>) -> Bool {
        guard let onlyKey else { return true }
        return key.count == onlyKey.count && key.hasSame(0..<key.count, as: onlyKey.span, at: 0..<onlyKey.count)
    }

    func storedKey(_ key: Span<UInt8>) throws(LMDBError) -> [UInt8] { try core.hidden(key) }

    func storedByteCount(_ count: Int, key: Span<UInt8>, storedKey: Span<UInt8>) -> Int {
        SealedRow.byteCount(count + (hidesKeys ? 1 + key.count : 0), storedKey: storedKey.count)
    }

    func seal(
        _ value: Span<UInt8>, key: Span<UInt8>, storedKey: Span<UInt8>, into output: inout MutableSpan<UInt8>
    ) throws(LMDBError) {
        guard hidesKeys else {
            return try core.seal(Span<UInt8>(), value, kind, storedKey: storedKey, into: &output)
        }
        let prefix = [UInt8(key.count)] + key.array
        try core.seal(prefix.span, value, kind, storedKey: storedKey, into: &output)
    }

    func open(_ value: Span<UInt8>, storedKey: Span<UInt8>, into row: inout OpenedRow) {
        do throws(EntryRecord.Fault) { try opened(value, storedKey: storedKey, into: &row) } catch {
            Self.passOn(value, storedKey, into: &row)
        }
    }

    /// As ``open(_:storedKey:into:)``, with the fault of a row that cannot be opened.
    func opened(_ value: Span<UInt8>, storedKey: Span<UInt8>, into row: inout OpenedRow) throws(EntryRecord.Fault) {
        try core.open(value, kind, storedKey: storedKey, into: &row.value)
        guard hidesKeys else { return }
        guard let count = row.value.first.map(Int.init), count > 0, row.value.count > count else {
            throw .damaged("its lengths do not add up")
        }
        row.key = Array(row.value[1...count])
        row.value.removeFirst(1 + count)
    }

    /// A sealed row is no record of any kind. One that is not sealed could be: a byte before it makes it none.
    private static func passOn(_ value: Span<UInt8>, _ storedKey: Span<UInt8>, into row: inout OpenedRow) {
        row.key = storedKey.array
        row.value = SealedRow.begins(value) ? value.array : [0] + value.array
    }
}
