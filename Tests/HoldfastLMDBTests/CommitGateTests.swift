import Foundation
import HoldfastLMDB
import TestCopies
import Testing

/// An environment in a directory of its own.
private final class Place {
    let path = NSTemporaryDirectory() + "/holdfast-gate-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(atPath: path) }

    func open(_ gate: (any CommitGate)? = nil) throws -> Environment {
        try Environment.open(path, .readWriteUnsynced, mapByteCount: 1 << 28, tables: 8, gate: gate)
    }
}

private let names = ["first", "second", "third"]

/// Changes of every kind, at random: keys that follow each other and others, values of up to three pages.
private struct Changes {
    var dice: Dice

    func tables(_ transaction: borrowing WriteTransaction) throws -> [Table] {
        var tables: [Table] = []
        for name in names { tables.append(try transaction.table(name)) }
        return tables
    }

    mutating func make(_ count: Int, in transaction: borrowing WriteTransaction) throws {
        let tables = try tables(transaction)
        for _ in 0..<count {
            let table = tables[dice.number(0...2)]
            let key = key()
            switch dice.number(0...9) {
            case 0...4:
                let value = (0..<dice.number(0...(dice.number(0...9) == 0 ? 12_000 : 60))).map {
                    UInt8(truncatingIfNeeded: $0)
                }
                try transaction.put(key.span, value.span, in: table)
            case 5, 6: _ = try transaction.delete(key.span, in: table)
            case 7:
                let fill = UInt8(dice.number(0...255))
                try transaction.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) in
                    try cursor.put(key.span, appending: false, count: 9) { output in output[3] = fill }
                }
            default:
                let run = dice.number(1...6)
                try transaction.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) in
                    var isThere = try cursor.seek(atLeast: key.span)
                    for _ in 0..<run where isThere {
                        try cursor.delete()
                        isThere = try cursor.next()
                    }
                }
            }
        }
    }

    private mutating func key() -> [UInt8] {
        let number = dice.number(0...200)
        return dice.number(0...9) == 0
            ? [UInt8](repeating: 7, count: 300 + number) : Array("entry/\(1000 + number)".utf8)
    }
}

/// A little generator, so that a failure can be had again.
private struct Dice {
    var state: UInt64

    mutating func number(_ range: ClosedRange<Int>) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return range.lowerBound + Int((state >> 33) % UInt64(range.count))
    }
}

@Suite("Commits that are kept elsewhere first") struct CommitGateTests {
    @Test(
        "What was kept makes the same rows again, whatever was changed, given up or refused", arguments: [UInt64](1...8)
    )
    func replay(seed: UInt64) throws {
        let (gate, place, other) = (KeptEffects(), try Place(), try Place())
        let environment = try place.open(gate)
        var changes = Changes(dice: Dice(state: seed))
        var commits = 0
        for round in 0..<60 {
            let before = try TableRows(environment)
            let transaction = try WriteTransaction(environment)
            try changes.make(changes.dice.number(20...40), in: transaction)
            switch round % 5 {
            case 1: break
            case 2:
                gate.refuseNext()
                let count = gate.kept.count
                do {
                    try transaction.commit()
                    Issue.record("it is committed")
                } catch { #expect(error.code == .notKept && gate.kept.count == count) }
                #expect(try TableRows(environment) == before)
            default:
                try transaction.commit()
                commits += 1
            }
        }
        #expect(gate.kept.count <= commits)
        let (expected, number) = (try TableRows(environment), try WorkingCopy.number(in: environment))
        #expect(number == UInt64(gate.kept.count))
        environment.close()

        let copy = try other.open()
        let kept = gate.kept
        // In runs of different length, as a host reads them.
        var next = 0
        while next < kept.count {
            let end = min(kept.count, next + changes.dice.number(1...7))
            try WorkingCopy.apply(Array(kept[next..<end]), number: UInt64(end), to: copy)
            next = end
        }
        #expect(try TableRows(copy) == expected)
        #expect(try WorkingCopy.number(in: copy) == number)
        copy.close()
    }

    @Test("A transaction that changes nothing is not kept, and without a gate nothing is noted")
    func nothing() throws {
        let (gate, place, plain) = (KeptEffects(), try Place(), try Place())
        let environment = try place.open(gate)
        try WriteTransaction(environment).commit()
        #expect(gate.kept.isEmpty)
        environment.close()
        let other = try plain.open()
        try WriteTransaction(other).commit()
        #expect(try WorkingCopy.number(in: other) == 0)
        other.close()
    }

    @Test("Damaged, cut and foreign effects are refused, and change nothing")
    func damage() throws {
        let (gate, place, other) = (KeptEffects(), try Place(), try Place())
        let environment = try place.open(gate)
        var changes = Changes(dice: Dice(state: 9))
        let transaction = try WriteTransaction(environment)
        try changes.make(30, in: transaction)
        try transaction.commit()
        environment.close()
        let effects = gate.kept[0]
        let copy = try other.open()
        for position in stride(from: 0, to: effects.count, by: 7) {
            var damaged = effects
            damaged[position] ^= 0x41
            #expect(throws: Effects.Damage.self) { try WorkingCopy.apply([effects, damaged], number: 2, to: copy) }
            #expect(throws: Effects.Damage.self) {
                try WorkingCopy.apply([Array(effects[..<position])], number: 1, to: copy)
            }
        }
        #expect(try TableRows(copy) == TableRows())
        #expect(try WorkingCopy.number(in: copy) == 0)
        copy.close()
    }

    @Test("Changes that no writer makes are refused, though their checksum is right")
    func malformed() throws {
        let place = try Place()
        let copy = try place.open()
        let table: [UInt8] = [0x00, 1, 0x74]
        let cases: [[UInt8]] = [
            [0x40, 0, 1, 0, 0, 0, 0, 0, 7], [0x41, 0, 1, 0], table + [0x00, 1, 0x74], table + [0x40, 1, 1, 0],
            table + [0x40, 0, 0, 0, 0, 0, 0, 0], table + [0x40, 0, 1, 0, 9, 0, 0, 0, 7, 1], table + [0x80, 0, 9, 0, 1],
            table + [0xC0], [0x00, 0], [0x00, 1, 0xFF], [0x00], [0x3F, 1, 0x74],
        ]
        for changes in cases {
            var bytes = [UInt8](repeating: 0, count: 16) + changes
            var span = bytes.mutableSpan
            span.store(0x6665_4648 as UInt32, at: 8)
            span[12] = 1
            span.store(XXH64.hash(span.span, from: 8, seed: 0), at: 0)
            let error = #expect(throws: Effects.Damage.self) {
                try WorkingCopy.apply([bytes], number: 1, to: copy)
            }
            if case .malformed = error {} else { Issue.record("\(changes): \(error.map { "\($0)" } ?? "-")") }
            bytes[12] = 2
            #expect(throws: Effects.Damage.version(2)) { try WorkingCopy.apply([bytes], number: 1, to: copy) }
        }
        copy.close()
    }
}
