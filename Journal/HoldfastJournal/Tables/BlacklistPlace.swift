import Holdfast
import HoldfastLMDB
import HoldfastOpenSSL

/// Where the entries of a recipient lie: a table and a key.
struct BlacklistPlace: Hashable, Sendable {
    /// The tables of recipients, in the order in which they are listed.
    enum Part: String, CaseIterable, Sendable {
        /// By the token itself.
        case tokens
        /// By kind and SHA-256, because liblmdb's keys end at 511 bytes and endpoints may be longer. The hash resists
        /// collisions, since an endpoint is any text that a user sends.
        case addresses
    }

    let part: Part
    let key: [UInt8]

    init(part: Part, key: [UInt8]) { (self.part, self.key) = (part, key) }

    init(_ token: DeviceToken) { self.init(part: .tokens, key: token.bytes) }

    init(_ address: ServiceAddress) throws(JournalError) {
        self.init(part: .addresses, key: try Self.key(of: address.kind, address.bytes.span))
    }

    /// - Returns: nil for what names no device, and has no entries.
    static func of(_ recipient: Recipient) throws(JournalError) -> BlacklistPlace? {
        switch recipient {
        case .device(let token): BlacklistPlace(token)
        case .service(let address) where !recipient.isBroadcast: try BlacklistPlace(address)
        case .channel, .service: nil
        }
    }

    /// The key of an address: its kind, and the SHA-256 of its bytes.
    static func key(of kind: ServiceAddress.Kind, _ address: Span<UInt8>) throws(JournalError) -> [UInt8] {
        do throws(OpenSSLError) {
            return [kind.rawValue] + (try SHA256.digest(address))
        } catch {
            throw JournalError(.inputOutput, "an address cannot be looked up on the blacklist: \(error)")
        }
    }
}

/// The tables of recipients, as far as there are any: that of addresses is made for the first one.
struct BlacklistTables: Sendable {
    /// The tables of recipients. That of addresses is there from the first of them on: programs that do not know it refuse a
    /// journal that has it.
    static let tableNames = BlacklistPlace.Part.allCases.map(\.rawValue)
    /// The tables that every blacklist has: tokens, and facts about the whole.
    static let requiredNames = [BlacklistPlace.Part.tokens.rawValue, "facts"]
    static let everyName = tableNames + ["facts"]
    static let openingKey = Array("opening".utf8)
    static let mapByteCount = 64 << 30

    let tokens: Table
    var addresses: Table?

    /// The tables that exist.
    var all: [(part: BlacklistPlace.Part, table: Table)] {
        [(.tokens, tokens)] + (addresses.map { [(.addresses, $0)] } ?? [])
    }

    func table(_ part: BlacklistPlace.Part) -> Table? { part == .tokens ? tokens : addresses }

    func count(_ transaction: borrowing some Transaction & ~Copyable) throws(LMDBError) -> Int {
        var count = 0
        for (_, table) in all { count += try transaction.statistics(of: table).entries }
        return count
    }

    func row(_ place: BlacklistPlace, in snapshot: borrowing Snapshot) throws(LMDBError) -> RecipientRow? {
        guard let table = table(place.part), let value = try snapshot.get(place.key.span, in: table) else { return nil }
        return RecipientRow(place: place, value: value)
    }

    /// Rows behind a place, in the order of the tables and of the keys.
    func rows(
        after: BlacklistPlace?, limit: Int, in snapshot: borrowing Snapshot
    ) throws(LMDBError) -> [RecipientRow] {
        var rows: [RecipientRow] = []
        for (part, table) in all where after?.part != .addresses || part == .addresses {
            let start = after?.part == part ? after?.key : nil
            rows += try RecipientRow.list(table, part, after: start, limit: limit - rows.count, in: snapshot)
        }
        return rows
    }
}
