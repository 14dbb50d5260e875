/// Changes the rows of an environment on their way into its file and out of it, so that the file has nothing in the clear.
///
/// Callers of transactions and cursors see the rows as they were put; pages, effects and copies have them as they are stored.
package protocol RowSeals: AnyObject, Sendable {
    /// The seal of a table; nil for one whose rows are stored as they are.
    func seal(of table: String) -> (any RowSeal)?
}

/// Seals the rows of one table.
package protocol RowSeal: AnyObject, Sendable {
    /// Whether keys are stored in another form, too. The order of the table is then that of the stored keys.
    var hidesKeys: Bool { get }

    /// Whether the row of this key is sealed. Others are stored as they are.
    func covers(_ key: Span<UInt8>) -> Bool

    /// The form in which a key is stored where keys are hidden.
    func storedKey(_ key: Span<UInt8>) throws(LMDBError) -> [UInt8]

    /// The bytes that a value of `count` bytes takes in the file.
    func storedByteCount(_ count: Int, key: Span<UInt8>, storedKey: Span<UInt8>) -> Int

    /// Seals a value into exactly ``storedByteCount(_:key:storedKey:)`` bytes.
    func seal(
        _ value: Span<UInt8>, key: Span<UInt8>, storedKey: Span<UInt8>, into output: inout MutableSpan<UInt8>
    ) throws(LMDBError)

    /// Opens a stored row. One that cannot be opened is passed on in a form that no reader takes for a sound row, and from
    /// which its bytes can be had.
    func open(_ value: Span<UInt8>, storedKey: Span<UInt8>, into row: inout OpenedRow)
}

/// A row as it was put.
package struct OpenedRow: Sendable {
    /// Empty where keys are not hidden.
    package var key: [UInt8] = []
    package var value: [UInt8] = []

    package init() {}
}

extension RowSeal {
    /// A sealed copy of a value.
    package func sealed(
        _ value: Span<UInt8>, key: Span<UInt8>, storedKey: Span<UInt8>
    ) throws(LMDBError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: storedByteCount(value.count, key: key, storedKey: storedKey))
        var output = bytes.mutableSpan
        try seal(value, key: key, storedKey: storedKey, into: &output)
        return bytes
    }

    /// The key under which a row lies in the file.
    package func place(of key: Span<UInt8>) throws(LMDBError) -> [UInt8] {
        hidesKeys ? try storedKey(key) : key.array
    }
}

/// The seal of a cursor's table, with the memory into which rows are opened.
final class CursorSeal {
    let seal: any RowSeal
    private var row = OpenedRow()

    init(_ seal: any RowSeal) { self.seal = seal }

    var hidesKeys: Bool { seal.hidesKeys }

    func covers(_ key: Span<UInt8>) -> Bool { seal.covers(key) }

    /// - Returns: nil where keys are stored as they are.
    func hiddenKey(_ key: Span<UInt8>) throws(LMDBError) -> [UInt8]? {
        seal.hidesKeys ? try seal.storedKey(key) : nil
    }

    /// The row of a key as it is stored, whose value `fill` writes.
    func sealed(
        _ key: Span<UInt8>, count: Int, _ fill: (inout MutableSpan<UInt8>) -> Void
    ) throws(LMDBError) -> (key: [UInt8], value: [UInt8]) {
        var value = [UInt8](repeating: 0, count: count)
        var plain = value.mutableSpan
        fill(&plain)
        let place = try seal.place(of: key)
        return (place, try seal.sealed(value.span, key: key, storedKey: place.span))
    }

    /// Passes an opened row.
    func open(
        _ key: Span<UInt8>, _ value: Span<UInt8>, _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) -> Void
    ) {
        guard seal.hidesKeys || seal.covers(key) else { return body(key, value) }
        // Taken out, so that its memory serves the next row.
        var opened = OpenedRow()
        swap(&opened, &row)
        seal.open(value, storedKey: key, into: &opened)
        if seal.hidesKeys { body(opened.key.span, opened.value.span) } else { body(key, opened.value.span) }
        swap(&opened, &row)
    }
}
