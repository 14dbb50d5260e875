import Holdfast
import HoldfastLMDB
import HoldfastOpenSSL

/// Seals and opens the rows of one file.
///
/// No nonce repeats under a key: each opening of a journal derives a key of its own from a random salt, and counts its rows.
/// So a restored backup, or two copies of a journal, seal with different keys whatever they had sealed before.
final class SealCore: Sendable {
    private let keys: Monitor<JournalKeys>
    private let sealer: Monitor<Sealer>
    /// Those that nobody uses at the moment.
    private let openers = Monitor<[Opener]>([])
    /// Of the key that hides recipients; nil for a file that hides none.
    private let hash: Monitor<RecipientHash?>
    /// The last key that a row needed and that is not there.
    private let missing = Monitor<SealKeyID?>(nil)

    /// Rows that are sealed under one derived key, far fewer than AES-GCM bears.
    static let greatestCount: UInt64 = 1 << 32

    init(_ keys: JournalKeys, greatestCount: UInt64 = greatestCount) throws(JournalError) {
        self.keys = Monitor(keys)
        do throws(OpenSSLError) {
            sealer = Monitor(try Sealer(keys.current, greatestCount: greatestCount))
        } catch {
            throw JournalError(error)
        }
        hash = Monitor(nil)
    }

    var current: SealKeyID { sealer.withLock { $0.id } }

    /// Seals with the first of these keys from now on. They include those with which rows are sealed.
    func use(_ keys: JournalKeys) throws(JournalError) {
        do throws(OpenSSLError) {
            let next = try Sealer(keys.current, greatestCount: Self.greatestCount)
            self.keys.withLock { $0 = keys }
            sealer.withLock { $0 = next }
        } catch {
            throw JournalError(error)
        }
    }

    /// Hides recipients with this key.
    func hide(with key: [UInt8]) throws(JournalError) {
        do throws(OpenSSLError) {
            let hash = RecipientHash(try KeyedHash(key: key.span))
            self.hash.withLock { $0 = hash }
        } catch {
            throw JournalError(error)
        }
    }

    /// The key that a row needed and that is not there, once.
    func takeMissing() -> SealKeyID? {
        missing.withLock { missing in
            defer { missing = nil }
            return missing
        }
    }

    func hidden(_ key: Span<UInt8>) throws(LMDBError) -> [UInt8] {
        let code: [UInt8]? = hash.withLock { hash in try? hash?.hash.hash(key) }
        guard let code else { throw LMDBError(.notSealed, "hide a key", path: "") }
        return code
    }

    /// - Parameter prefix: is sealed before the value.
    func seal(
        _ prefix: Span<UInt8>, _ value: Span<UInt8>, _ kind: SealedRow.Kind, storedKey: Span<UInt8>,
        into output: inout MutableSpan<UInt8>
    ) throws(LMDBError) {
        let isSealed = sealer.withLock { sealer in
            sealer.seal(prefix, value, kind, storedKey: storedKey, into: &output)
        }
        guard isSealed else { throw LMDBError(.notSealed, "seal a row", path: "") }
    }

    /// Opens a row into `output`.
    func open(
        _ value: Span<UInt8>, _ kind: SealedRow.Kind, storedKey: Span<UInt8>, into output: inout [UInt8]
    ) throws(EntryRecord.Fault) {
        let head = try SealedRow.head(value)
        guard head.kind == kind.rawValue << 3 else { throw .damaged("it was sealed for another table") }
        guard value.hasSame(head.key, as: storedKey, at: 0..<storedKey.count) else {
            throw .damaged("it was sealed for another key")
        }
        let opener = openers.withLock { $0.popLast() } ?? Opener()
        defer { openers.withLock { openers in if openers.count < 16 { openers.append(opener) } } }
        guard let key = keys.withLock({ $0.key(head.id) }) else {
            missing.withLock { $0 = head.id }
            throw .damaged("it was sealed with key \(head.id), which is not there")
        }
        guard opener.open(value, head, key, into: &output) else {
            throw .damaged("its seal does not hold: it was changed, or is not of this place")
        }
    }
}

/// Seals with one key derived for this opening. For one thread at a time.
private final class Sealer: @unchecked Sendable {  // used under the lock of its owner
    private let key: SealKey
    private let greatestCount: UInt64
    private var cipher: AES256GCM
    private var salt: SealedRow.Salt
    private var counter: UInt64 = 0

    var id: SealKeyID { key.id }

    init(_ key: SealKey, greatestCount: UInt64) throws(OpenSSLError) {
        self.key = key
        self.greatestCount = greatestCount
        (cipher, salt) = try Self.begin(key)
    }

    private static func begin(_ key: SealKey) throws(OpenSSLError) -> (AES256GCM, SealedRow.Salt) {
        let random = try RandomBytes.make(SealedRow.saltByteCount)
        let salt = SealedRow.Salt(low: random.span.load(UInt64.self, at: 0), high: random.span.load(UInt32.self, at: 8))
        var derived = try key.rowKey(salt: salt.bytes)
        defer { RandomBytes.wipe(&derived) }
        return (try AES256GCM(key: derived.span, seals: true), salt)
    }

    func seal(
        _ prefix: Span<UInt8>, _ value: Span<UInt8>, _ kind: SealedRow.Kind, storedKey: Span<UInt8>,
        into output: inout MutableSpan<UInt8>
    ) -> Bool {
        do throws(OpenSSLError) {
            if counter >= greatestCount {
                (cipher, salt) = try Self.begin(key)
                counter = 0
            }
            // Counted first: a row that fails has used its nonce, too.
            let number = counter
            counter += 1
            SealedRow.writeHead(
                kind, key.id, salt, counter: number,
                sealed: prefix.count + value.count + SealedRow.tagByteCount, key: storedKey, into: &output)
            let start = SealedRow.headByteCount + storedKey.count
            let nonce = SealedRow.nonce(number)
            try cipher.seal(prefix, value, nonce: nonce.span, authenticating: 8..<start, into: &output, at: start)
            output.store(XXH64.hash(output.span, from: 8), at: 0)
            return true
        } catch {
            return false
        }
    }
}

/// Opens with the keys of those openings whose rows it met last. For one thread at a time.
private final class Opener: @unchecked Sendable {  // lent to one at a time
    private struct Place: Hashable {
        let id: SealKeyID
        let salt: SealedRow.Salt
    }

    private var ciphers: [Place: AES256GCM] = [:]
    /// Of the row before, which most rows follow.
    private var last: (place: Place, cipher: AES256GCM)?
    private static let greatestCount = 64

    func open(_ value: Span<UInt8>, _ head: SealedRow.Head, _ key: SealKey, into output: inout [UInt8]) -> Bool {
        do throws(OpenSSLError) {
            let cipher = try cipher(head, key)
            let nonce = SealedRow.nonce(head.counter)
            return cipher.open(
                value.extracting(head.sealed), nonce: nonce.span,
                authenticating: value.extracting(8..<head.sealed.lowerBound), into: &output)
        } catch {
            return false
        }
    }

    private func cipher(_ head: SealedRow.Head, _ key: SealKey) throws(OpenSSLError) -> AES256GCM {
        let place = Place(id: head.id, salt: head.salt)
        if let last, last.place == place { return last.cipher }
        let cipher = try made(place, key)
        last = (place, cipher)
        return cipher
    }

    private func made(_ place: Place, _ key: SealKey) throws(OpenSSLError) -> AES256GCM {
        if let known = ciphers[place] { return known }
        if ciphers.count >= Self.greatestCount { ciphers = [:] }
        var derived = try key.rowKey(salt: place.salt.bytes)
        defer { RandomBytes.wipe(&derived) }
        let cipher = try AES256GCM(key: derived.span, seals: false)
        ciphers[place] = cipher
        return cipher
    }
}

/// The keyed hash that stands for a recipient.
private final class RecipientHash: @unchecked Sendable {  // used under the lock of its owner
    let hash: KeyedHash

    init(_ hash: KeyedHash) { self.hash = hash }
}
