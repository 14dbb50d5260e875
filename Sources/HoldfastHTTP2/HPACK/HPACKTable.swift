/// The fields that header blocks name by index (RFC 7541 §2.3): the fixed ones, and the newest that the peer had added.
struct HPACKTable: Sendable {
    /// The limit of SETTINGS_HEADER_TABLE_SIZE that the peer has acknowledged.
    var limit: Int { didSet { if capacity > limit { resize(to: limit) } } }
    /// The capacity that the peer has chosen within it.
    private var capacity: Int
    /// The size of the entries (§4.1).
    private var size = 0

    /// Oldest first. Those before `start` are gone.
    private var entries = HeaderList()
    private var start = 0

    private let fixed: HeaderList

    /// - Parameter names: gives the numbers of the fixed entries' names.
    init(limit: Int, names: HeaderNames) {
        (self.limit, capacity) = (limit, limit)
        fixed = names.fixed
    }

    /// Hands over the entry of an index, and the list that it lies in; nil where there is none.
    @inline(__always)
    func withEntry<R>(_ index: Int, _ body: (HeaderList.Field, HeaderList) -> R) -> R? {
        guard index >= HPACKWriter.firstDynamicIndex else {
            return index > 0 ? body(fixed.fields[index &- 1], fixed) : nil
        }
        let place = entries.count &- 1 &- (index &- HPACKWriter.firstDynamicIndex)
        return place >= start ? body(entries.fields[place], entries) : nil
    }

    /// Adds an entry, and evicts the oldest ones to make room. An entry larger than the table empties it.
    mutating func add(_ field: HeaderList.Field, of list: HeaderList) {
        makeRoom(for: field.size)
        guard field.size <= capacity else { return }
        if start > entries.count - start {
            entries.removeFirst(start)
            start = 0
        }
        entries.append(field, of: list)
        size += field.size
    }

    mutating func resize(to capacity: Int) {
        self.capacity = capacity
        makeRoom(for: 0)
    }

    private mutating func makeRoom(for count: Int) {
        while size + count > capacity, start < entries.count {
            size -= entries.fields[start].size
            start += 1
        }
    }

    /// RFC 7541 appendix A.
    static let standard: [(name: String, value: String)] = [
        (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
        (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
        (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
        ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
        ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""), ("cache-control", ""),
        ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
        ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""),
        ("etag", ""), ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""),
        ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""),
        ("last-modified", ""), ("link", ""), ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""),
        ("proxy-authorization", ""), ("range", ""), ("referer", ""), ("refresh", ""), ("retry-after", ""),
        ("server", ""), ("set-cookie", ""), ("strict-transport-security", ""), ("transfer-encoding", ""),
        ("user-agent", ""), ("vary", ""), ("via", ""), ("www-authenticate", ""),
    ]
}
