internal import HoldfastHTTP2
internal import HoldfastRequests

/// Writes the header block of each request, for one connection. All requests of a connection have the same fields, which go
/// into the peer's dynamic table with the first: from then on a block is a few bytes, although access tokens are long.
struct FCMHeaders: Sendable {
    /// By their places in the table.
    private enum Name {
        static let path = 0
        static let authority = 1
        static let contentType = 2
        static let authorization = 3
        static let via = 4

        static let all = [
            HeaderTable.Name(":path", staticIndex: HPACKStaticIndex.path),
            HeaderTable.Name(":authority", staticIndex: HPACKStaticIndex.authority),
            HeaderTable.Name("content-type", staticIndex: HPACKStaticIndex.contentType),
            HeaderTable.Name("authorization", staticIndex: HPACKStaticIndex.authorization),
            HeaderTable.Name("via", staticIndex: HPACKStaticIndex.via),
        ]
    }

    private static let json = Array("application/json".utf8)

    private let path: [UInt8]
    private let authority: [UInt8]
    private let schemeIndex: Int
    private let via: [UInt8]
    private var authorization: [UInt8] = []
    private var table = HeaderTable(Name.all)
    /// The whole block, once it refers to the table alone, or to what has no room there.
    private var repeated: [UInt8] = []

    /// - Parameter via: the value of `via`; nil for none.
    init(project: String, authority: String, isCleartext: Bool, via: String? = nil) {
        self.via = Array((via ?? "").utf8)
        path = Array("/v1/projects/\(project)/messages:send".utf8)
        self.authority = Array(authority.utf8)
        schemeIndex = isCleartext ? HPACKStaticIndex.schemeHTTP : HPACKStaticIndex.schemeHTTPS
    }

    /// - Parameter authorization: the whole value, `Bearer …`; empty for none.
    mutating func setAuthorization(_ authorization: [UInt8]) {
        self.authorization = authorization
        repeated = []
    }

    /// The peer allows its table this much from now on.
    mutating func setPeerTableSize(_ size: Int) {
        table.setPeerSize(size)
        repeated = []
    }

    /// Appends the header block of one request.
    mutating func append(to block: inout [UInt8]) {
        guard repeated.isEmpty else { return block.append(contentsOf: repeated) }
        table.begin(&block)
        let (start, version) = (block.count, table.version)
        HPACKWriter.appendIndexed(HPACKStaticIndex.methodPost, to: &block)
        HPACKWriter.appendIndexed(schemeIndex, to: &block)
        table.appendField(Name.path, path[...], to: &block)
        table.appendField(Name.authority, authority[...], to: &block)
        table.appendField(Name.contentType, Self.json[...], to: &block)
        if !authorization.isEmpty { table.appendField(Name.authorization, authorization[...], to: &block) }
        if !via.isEmpty { table.appendField(Name.via, via[...], to: &block) }
        if table.version == version { repeated = Array(block[start...]) }
    }
}
