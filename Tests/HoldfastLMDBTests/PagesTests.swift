import Foundation
import HoldfastLMDB
import Testing

/// liblmdb's file format as it is read and written here, held against liblmdb itself.
@Suite("Pages read and written without liblmdb")
struct PagesTests {
    private static func folder() throws -> String {
        let path = NSTemporaryDirectory() + "/holdfast-pages-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    private struct Numbers: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    private typealias Rows = [(key: [UInt8], value: [UInt8])]

    /// Rows in the order of their keys, with keys of all lengths and values on both sides of half a page.
    private static func rows(_ count: Int, seed: UInt64) -> Rows {
        var random = Numbers(state: seed)
        var rows: [[UInt8]: [UInt8]] = [:]
        while rows.count < count {
            let length = Int.random(in: 1...(Bool.random(using: &random) ? 12 : 511), using: &random)
            let key = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            let size = [0, 1, 33, 300, 2000, 2030, 4080, 4081, 20_000].randomElement(using: &random) ?? 0
            rows[key] = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ key.count) }
        }
        return rows.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) }
    }

    /// All that a walk finds, and every fault.
    private static func read(_ path: String) throws -> (rows: [String: Rows], faults: [String]) {
        let finding = try DataFile.find(path)
        let file = try #require(finding.file)
        let faults = Faults()
        let walk = FileWalk(file) { _ in
            true
        } fault: {
            faults.all.append($0.what)
        }
        var rows: [String: Rows] = [:]
        for table in walk.tables() {
            rows[table.name] = []
            walk.walk(table.record, name: table.name) { key, value, _ in rows[table.name]?.append((key, value.array)) }
        }
        walk.checkFreeList()
        return (rows, finding.faults.map(\.what) + faults.all)
    }

    private final class Faults { var all: [String] = [] }

    @Test(
        "A file that was written here is read by liblmdb, which can then change all of it, and stays sound",
        arguments: [0, 1, 2, 5, 40, 700, 3000])
    func written(_ count: Int) throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let wanted = Self.rows(count, seed: UInt64(count))
        var writer = try DataFileWriter(
            folder + "/data.mdb", pageByteCount: 4096, mapByteCount: 1 << 30, transaction: 77)
        for name in ["zebra", "ant", "empty"] {
            writer.beginTable(name)
            if name != "empty" { for row in wanted { try writer.append(row.key, row.value.span) } }
            try writer.endTable()
        }
        let byteCount = try writer.finish()
        #expect(byteCount % 4096 == 0)
        let (rows, faults) = try Self.read(folder + "/data.mdb")
        #expect(faults == [])
        #expect(rows["ant"]?.count == count && rows["empty"]?.count == 0)

        let environment = try Environment.open(folder, .readWriteUnsynced, mapByteCount: 1 << 30, tables: 8)
        #expect(try environment.info().lastTransaction == 77)
        var random = Numbers(state: 9)
        // Every row is there; then all go and others come, in several commits.
        for round in 0..<4 {
            let transaction = try WriteTransaction(environment)
            let table = try transaction.table("ant")
            if round == 0 {
                for row in wanted { #expect(try transaction.get(row.key.span, in: table) == row.value) }
            }
            for row in wanted where Int.random(in: 0...1, using: &random) == 0 || round == 3 {
                _ = try transaction.delete(row.key.span, in: table)
            }
            for row in Self.rows(count / 3, seed: UInt64(round + 100)) {
                try transaction.put(row.key.span, row.value.span, in: table)
            }
            try transaction.commit()
            #expect(try Self.read(folder + "/data.mdb").faults == [], "after commit \(round)")
        }
        environment.close()
    }

    @Test("What liblmdb has written is sound, and every row of it is found", arguments: [1, 2, 3] as [UInt64])
    func foreign(seed: UInt64) throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let environment = try Environment.open(folder, .readWriteUnsynced, mapByteCount: 1 << 30, tables: 8)
        var random = Numbers(state: seed)
        var model: [[UInt8]: [UInt8]] = [:]
        for round in 0..<25 {
            let transaction = try WriteTransaction(environment)
            let table = try transaction.table("t")
            for row in Self.rows(60, seed: seed &* 1000 &+ UInt64(round)) {
                try transaction.put(row.key.span, row.value.span, in: table)
                model[row.key] = row.value
            }
            for key in Array(model.keys.sorted { $0.lexicographicallyPrecedes($1) })
            where Int.random(in: 0..<3, using: &random) == 0 {
                if Bool.random(using: &random) {
                    _ = try transaction.delete(key.span, in: table)
                    model[key] = nil
                } else {
                    let value = [UInt8](repeating: 5, count: Int.random(in: 0...9000, using: &random))
                    try transaction.put(key.span, value.span, in: table)
                    model[key] = value
                }
            }
            try transaction.commit()
            let (rows, faults) = try Self.read(folder + "/data.mdb")
            #expect(faults == [], "after commit \(round)")
            #expect(Dictionary(uniqueKeysWithValues: (rows["t"] ?? []).map { ($0.key, $0.value) }) == model)
        }
        environment.close()
    }

    @Test("A cursor finds what a walk finds, and the first key at or above any other")
    func cursor() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let wanted = Self.rows(500, seed: 4)
        var writer = try DataFileWriter(
            folder + "/data.mdb", pageByteCount: 4096, mapByteCount: 1 << 30, transaction: 2)
        writer.beginTable("t")
        for row in wanted { try writer.append(row.key, row.value.span) }
        try writer.endTable()
        _ = try writer.finish()
        let file = try #require(try DataFile.find(folder + "/data.mdb").file)
        let walk = FileWalk(file) { _ in
            true
        } fault: { fault in
            Issue.record("\(fault)")
        }
        let table = try #require(walk.tables().first)
        var cursor = TreeCursor(file, table.record)
        var found = cursor.seek(atLeast: [])
        for row in wanted {
            #expect(found && cursor.key == row.key && cursor.value() == row.value)
            found = cursor.next()
        }
        #expect(!found)
        for (index, row) in wanted.enumerated() {
            #expect(cursor.seek(atLeast: row.key) && cursor.key == row.key)
            let behind = cursor.seek(atLeast: row.key + [0])
            #expect(behind == (index + 1 < wanted.count))
            if behind { #expect(cursor.key == wanted[index + 1].key) }
        }
    }
}
