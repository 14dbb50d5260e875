import Foundation
import HoldfastLMDB
import Testing

/// An environment in a directory of its own.
private final class Place {
    let path = NSTemporaryDirectory() + "/holdfast-lmdb-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(atPath: path) }

    func open(_ access: Environment.Access = .readWrite, mapByteCount: Int? = 1 << 30) throws -> Environment {
        try Environment.open(path, access, mapByteCount: mapByteCount, tables: 8)
    }
}

extension Environment {
    /// A table, and what it holds put in one commit.
    fileprivate func table(_ name: String, _ rows: [(String, String)] = []) throws -> Table {
        let transaction = try WriteTransaction(self)
        let table = try transaction.table(name)
        for (key, value) in rows { try transaction.put(Array(key.utf8).span, Array(value.utf8).span, in: table) }
        try transaction.commit()
        return table
    }
}

private func text(_ span: Span<UInt8>) -> String { String(decoding: span.array, as: UTF8.self) }

@Suite("The door to liblmdb")
struct EnvironmentTests {
    @Test("A second opening in this process is refused; whoever wants it shares it, and the last one closes it")
    func registry() throws {
        let place = try Place()
        let environment = try place.open()
        let error = #expect(throws: LMDBError.self) { try place.open() }
        #expect(error?.code == .openInThisProcess)
        // By another name it is the same directory.
        #expect(throws: LMDBError.self) {
            try Environment.open(
                place.path + "/../" + (place.path as NSString).lastPathComponent, .readOnly, mapByteCount: nil,
                tables: 8)
        }
        let shared = try Environment.share(place.path)
        #expect(shared === environment)
        environment.close()
        _ = try shared?.table("still open")
        shared?.close()
        shared?.close()
        #expect(try Environment.share(place.path) == nil)
        try place.open().close()
    }

    @Test("An environment that nobody closed closes with its last reference")
    func forgotten() throws {
        let place = try Place()
        for _ in 0..<3 { _ = try place.open().table("t") }
    }

    @Test("A miss is false or nil; an error is an error")
    func missAndError() throws {
        let place = try Place()
        let environment = try place.open()
        defer { environment.close() }
        let table = try environment.table("t", [("a", "1")])
        let pool = ReaderPool(environment)
        defer { pool.close() }
        let read = try pool.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            (try snapshot.get(Array("a".utf8).span, in: table), try snapshot.get(Array("b".utf8).span, in: table))
        }
        #expect(read?.0 == Array("1".utf8) && read?.1 == nil)
        // A key of no bytes is not a miss but a mistake.
        #expect(throws: LMDBError.self) {
            try pool.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try snapshot.get(Span<UInt8>(), in: table)
            }
        }
    }

    @Test("Whoever reads while the pool is closed has let go of its slot before the environment goes")
    func closedWhileRead() throws {
        let place = try Place()
        for _ in 0..<300 {
            let environment = try place.open()
            let table = try environment.table("t", [("a", "1")])
            let pool = ReaderPool(environment)
            let (started, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let threads = 4
            for _ in 0..<threads {
                Thread.detachNewThread {
                    started.signal()
                    var isOpen = true
                    while isOpen {
                        let found = try? pool.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                            try snapshot.get(Array("a".utf8).span, in: table)
                        }
                        isOpen = found != nil
                    }
                    ended.signal()
                }
            }
            for _ in 0..<threads { started.wait() }
            pool.close()
            // From here on the slots of the lock file are not in memory any more.
            environment.close()
            for _ in 0..<threads { ended.wait() }
        }
    }

    @Test("A transaction that is not committed leaves nothing")
    func abort() throws {
        let place = try Place()
        let environment = try place.open()
        defer { environment.close() }
        let table = try environment.table("t", [("a", "1")])
        do {
            let transaction = try WriteTransaction(environment)
            try transaction.put(Array("b".utf8).span, Array("2".utf8).span, in: table)
        }
        let count = try ReaderPool(environment).read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try snapshot.statistics(of: table).entries
        }
        #expect(count == 1)
    }

    @Test("A cursor finds, seeks, walks, deletes and puts in place; appending out of order is refused")
    func cursor() throws {
        let place = try Place()
        let environment = try place.open()
        defer { environment.close() }
        let table = try environment.table("t", [("b", "2"), ("d", "4"), ("f", "6")])
        let transaction = try WriteTransaction(environment)
        var seen: [String] = []
        try transaction.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) in
            #expect(try cursor.seek(atLeast: Array("c".utf8).span))
            cursor.withCurrent { key, value in seen.append(text(key) + text(value)) }
            #expect(try !cursor.find(Array("c".utf8).span))
            #expect(try cursor.find(Array("b".utf8).span))
            try cursor.delete()
            #expect(try cursor.next())
            cursor.withCurrent { key, value in seen.append(text(key) + text(value)) }
            #expect(try cursor.last())
            #expect(try !cursor.next())
            try cursor.put(Array("g".utf8).span, appending: true, count: 3) { output in
                output.copy(0..<3, of: Array("777".utf8).span, to: 0)
            }
            let error = #expect(throws: LMDBError.self) {
                try cursor.put(Array("a".utf8).span, appending: true, count: 1) { _ in }
            }
            #expect(error?.code == .keyExists)
            #expect(try !cursor.seek(atLeast: Array("h".utf8).span))
            #expect(try cursor.first())
            cursor.withCurrent { key, value in seen.append(text(key) + text(value)) }
        }
        try transaction.commit()
        #expect(seen == ["d4", "d4", "d4"])
        let stored = try ReaderPool(environment).read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try snapshot.get(Array("g".utf8).span, in: table)
        }
        #expect(stored == Array("777".utf8))
    }

    @Test("Pages freed are counted free once no reader can see them, and used pages are the rest")
    func pages() throws {
        let place = try Place()
        let environment = try place.open()
        defer { environment.close() }
        let table = try environment.table("t", (0..<2000).map { ("key \($0)", String(repeating: "v", count: 500)) })
        let pool = ReaderPool(environment)
        defer { pool.close() }
        func figures() throws -> (used: Int, free: Int, high: Int) {
            let readers = try environment.readers()
            let counted = try pool.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                (try snapshot.usedPages(of: [table]), try snapshot.freePages(seenBy: readers))
            }
            guard let counted else { throw LMDBError(.invalid, "read", path: place.path) }
            return (counted.0, counted.1, try environment.info().highWaterPages)
        }
        func empty() throws {
            let transaction = try WriteTransaction(environment)
            for number in 0..<2000 { _ = try transaction.delete(Array("key \(number)".utf8).span, in: table) }
            try transaction.commit()
        }
        let full = try figures()
        #expect(full.used > 250 && full.used + full.free <= full.high && full.used + full.free >= full.high - 4)
        let pinned = try pool.read { (_: borrowing Snapshot) in
            Result {
                try empty()
                return try figures()
            }
        }?.get()
        #expect(pinned?.used ?? 99 < 10)
        #expect(pinned?.free ?? 999 < full.free + 4)
        let drained = try figures()
        #expect(drained.free > 250)
        #expect(drained.used + drained.free <= drained.high && drained.used + drained.free >= drained.high - 4)
    }

    @Test("What is not an environment is an error, and leaves nothing open")
    func notAnEnvironment() throws {
        let place = try Place()
        try Data(repeating: 7, count: 8192).write(to: URL(fileURLWithPath: place.path + "/data.mdb"))
        let error = #expect(throws: LMDBError.self) { try place.open() }
        #expect(error?.code == .invalid)
        #expect(try DataFileCheck.check(place.path + "/data.mdb") != .sound)
        try FileManager.default.removeItem(atPath: place.path + "/data.mdb")
        #expect(try DataFileCheck.check(place.path + "/data.mdb") == .absent)
        try place.open().close()
        #expect(try DataFileCheck.check(place.path + "/data.mdb") == .sound)
    }
}

@Suite("Files")
struct FilesTests {
    @Test("A lock excludes a second open file, shared ones stand together, and it goes with its file")
    func locks() throws {
        let place = try Place()
        let path = place.path + "/lock"
        var first: OpenFile? = try OpenFile(path, .create)
        let second = try OpenFile(path, .read)
        let third = try OpenFile(path, .read)
        #expect(try first?.tryLock(exclusive: true) == true)
        #expect(try !second.tryLock(exclusive: false))
        first = nil
        #expect(try second.tryLock(exclusive: false))
        #expect(try third.tryLock(exclusive: false))
        #expect(try !third.tryLock(exclusive: true))
    }

    @Test(
        "Parents of paths are what they are for the shell",
        arguments: [
            ("/a/b", "/a"), ("/a", "/"), ("a", "."), ("a/b/", "a"), ("/", "/"),
        ])
    func parents(path: String, parent: String) { #expect(Files.parent(of: path) == parent) }

    @Test("An ordinary local file system is taken")
    func fileSystem() throws {
        let place = try Place()
        #expect(try Files.unsupportedFileSystem(at: place.path) == nil)
    }
}
