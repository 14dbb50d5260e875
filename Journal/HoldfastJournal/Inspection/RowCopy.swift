import Holdfast
import HoldfastLMDB

/// A row on its way from one file to another, which may be sealed otherwise.
struct RowCopy {
    /// A row as it is stored.
    struct Stored {
        let key: [UInt8]
        let value: [UInt8]
    }

    /// How the rows are sealed that are read.
    let source: JournalSeal?
    /// How those are that are written.
    let target: JournalSeal?
    /// Whether rows are sealed anew that are sealed with another key than the target's.
    let renews: Bool

    var isSealed: Bool { source != nil || target != nil }

    /// Whether a table's rows come in another order than they are to go.
    func changesOrder(of table: String) -> Bool {
        let hides = (source ?? target)?.tableSeal(of: table)?.hidesKeys ?? false
        return hides && (source == nil) != (target == nil)
    }

    /// A row as it was put; as it is stored where it cannot be opened.
    static func opened(_ table: String, _ key: [UInt8], _ value: Span<UInt8>, _ seal: JournalSeal?) -> OpenedRow {
        var row = OpenedRow()
        if let seal = seal?.tableSeal(of: table), seal.covers(key.span) {
            do throws(EntryRecord.Fault) {
                try seal.opened(value, storedKey: key.span, into: &row)
                if !seal.hidesKeys { row.key = key }
                return row
            } catch {}
        }
        (row.key, row.value) = (key, value.array)
        return row
    }

    /// - Parameter change: returns the new value of a row; nil leaves it as it is.
    /// - Returns: nil for a row that stays as it is stored.
    func stored(
        _ table: String, _ key: [UInt8], _ value: Span<UInt8>,
        change: (_ table: String, _ value: Span<UInt8>) throws(EntryRecord.Fault) -> [UInt8]?
    ) throws(LMDBError) -> Stored? {
        let (from, to) = (source?.tableSeal(of: table), target?.tableSeal(of: table))
        guard from?.covers(key.span) ?? false || to?.covers(key.span) ?? false else {
            return Self.changed(table, value, change).map { Stored(key: key, value: $0) }
        }
        var row = OpenedRow()
        var isRenewed = false
        if let from {
            do throws(EntryRecord.Fault) {
                try from.opened(value, storedKey: key.span, into: &row)
                isRenewed = renews ? try SealedRow.head(value).id != target?.core.current : false
            } catch {
                // The look at the copy that follows finds it.
                return nil
            }
        }
        let clearKey = from?.hidesKeys == true ? row.key : key
        let clear = from == nil ? value.array : row.value
        let changed = Self.changed(table, clear.span, change)
        if changed == nil, !isRenewed, from != nil, to != nil { return nil }
        let new = changed ?? clear
        guard let to else { return Stored(key: clearKey, value: new) }
        let place = try to.place(of: clearKey.span)
        return Stored(key: place, value: try to.sealed(new.span, key: clearKey.span, storedKey: place.span))
    }

    /// A record that cannot be changed stays as it is: the look at the copy that follows finds it.
    private static func changed(
        _ table: String, _ value: Span<UInt8>,
        _ change: (_ table: String, _ value: Span<UInt8>) throws(EntryRecord.Fault) -> [UInt8]?
    ) -> [UInt8]? {
        do throws(EntryRecord.Fault) { return try change(table, value) } catch { return nil }
    }

    /// The rows of `facts` as the copy has them, which say how it is sealed.
    ///
    /// - Parameter rows: all of them but those, as the copy has them.
    func facts(_ rows: [Stored]) throws(LMDBError) -> [Stored] {
        let own = [SealingRecord.key, SealingRecord.indexKey]
        var facts = rows.filter { row in !own.contains(row.key) }
        for index in facts.indices where facts[index].key == EntriesStore.formatKey {
            facts[index] = Stored(key: EntriesStore.formatKey, value: format(facts[index].value))
        }
        for (key, value) in target?.facts ?? [] {
            guard let seal = target?.tableSeal(of: "facts"), seal.covers(key.span) else {
                facts.append(Stored(key: key, value: value))
                continue
            }
            facts.append(Stored(key: key, value: try seal.sealed(value.span, key: key.span, storedKey: key.span)))
        }
        return facts.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }

    private func format(_ value: [UInt8]) -> [UInt8] {
        guard value.count == 4 else { return value }
        let old = value.span.littleEndian32(at: 0)
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(
            target == nil
                ? min(old, EntriesStore.newestUnsealedFormat) : max(old, EntriesStore.sealedFormat))
        return bytes
    }
}
