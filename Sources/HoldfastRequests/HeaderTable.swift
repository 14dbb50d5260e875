internal import HoldfastHTTP2

/// Writes header fields that repeat into header blocks, and keeps account of the peer's dynamic table (RFC 7541).
///
/// A field goes into the table when it first occurs, so that from then on it is one byte; of a field whose value differs each
/// time only the value travels. The table is only ever added to as far as it has room, so nothing is evicted and no index
/// goes stale unnoticed.
///
/// A block that is written must be sent: the peer's table follows from it.
package struct HeaderTable: Sendable {
    /// The name of a field that repeats.
    package struct Name: Sendable {
        let bytes: [UInt8]
        /// Its index in the static table; 0 for none.
        let staticIndex: Int

        package init(_ name: String, staticIndex: Int = 0) {
            bytes = Array(name.utf8)
            self.staticIndex = staticIndex
        }
    }

    /// The greatest dynamic table used, whatever the peer allows: room for some forty fields.
    package static let greatestSize = 4096

    private let names: [Name]
    /// The entries added to the peer's table, oldest first.
    private var entries: [(name: Int, value: [UInt8])] = []
    private var size = 0
    private var limit = Self.greatestSize
    /// A change of the table's size that the next block must begin with.
    private var pendingSizeUpdate: Int?
    /// The newest entry of each name in the peer's table, in the order of ``names``; 0 for none.
    private var nameIndices: [Int]

    /// - Parameter names: are then named by their place among them.
    package init(_ names: [Name]) {
        self.names = names
        nameIndices = [Int](repeating: 0, count: names.count)
    }

    /// Rises with each entry, and with a table that begins anew: blocks that were written before refer to it as it was.
    package private(set) var version = 0

    /// The peer allows its table this much from now on.
    package mutating func setPeerSize(_ peerSize: Int) {
        let limit = min(peerSize, Self.greatestSize)
        guard limit != self.limit else { return }
        // Empty the table and begin anew, which is simple and happens once a connection at the most.
        entries.removeAll()
        size = 0
        self.limit = limit
        pendingSizeUpdate = limit
        changed()
    }

    /// Begins a header block. To be called before anything is appended to it.
    package mutating func begin(_ block: inout [UInt8]) {
        guard let size = pendingSizeUpdate else { return }
        // Down to nothing first, which evicts what the table held; then up to what is allowed.
        HPACKWriter.appendSizeUpdate(0, to: &block)
        if size > 0 { HPACKWriter.appendSizeUpdate(size, to: &block) }
        pendingSizeUpdate = nil
    }

    /// The index of the name in the peer's table; 0 for none.
    package func index(of name: Int) -> Int { nameIndices[name] }

    /// A field whose name and value are likely to come again: a reference, or an entry from now on.
    package mutating func appendField(_ name: Int, _ value: ArraySlice<UInt8>, to block: inout [UInt8]) {
        for position in entries.indices
        where entries[position].name == name && entries[position].value.elementsEqual(value) {
            return HPACKWriter.appendIndexed(tableIndex(position), to: &block)
        }
        appendNew(name, value, to: &block)
    }

    /// A field whose value differs each time: a reference to the name, once there is one.
    package mutating func appendValue(_ name: Int, _ value: ArraySlice<UInt8>, to block: inout [UInt8]) {
        let index = nameIndices[name]
        guard index > 0 else { return appendNew(name, value, to: &block) }
        HPACKWriter.appendLiteral(nameIndex: index, value: value, indexing: .without, to: &block)
    }

    private mutating func appendNew(_ name: Int, _ value: ArraySlice<UInt8>, to block: inout [UInt8]) {
        let (bytes, staticIndex) = (names[name].bytes, names[name].staticIndex)
        let entrySize = HPACKWriter.entrySize(nameCount: bytes.count, valueCount: value.count)
        let hasRoom = size + entrySize <= limit
        let indexing: HPACKWriter.Indexing = hasRoom ? .incremental : .without
        let index = staticIndex > 0 ? staticIndex : nameIndices[name]
        if index > 0 {
            HPACKWriter.appendLiteral(nameIndex: index, value: value, indexing: indexing, to: &block)
        } else {
            HPACKWriter.appendLiteral(name: bytes, value: value, indexing: indexing, to: &block)
        }
        guard hasRoom else { return }
        entries.append((name, Array(value)))
        size += entrySize
        changed()
    }

    /// Every entry that is added moves the others on by one.
    private mutating func changed() {
        version += 1
        for index in nameIndices.indices { nameIndices[index] = 0 }
        for position in entries.indices { nameIndices[entries[position].name] = tableIndex(position) }
    }

    /// HPACK's index: the newest entry comes first.
    private func tableIndex(_ position: Int) -> Int { HPACKWriter.firstDynamicIndex + entries.count - 1 - position }
}
