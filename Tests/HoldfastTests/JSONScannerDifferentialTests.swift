import Foundation
import Holdfast
import Testing

/// The scanner against Foundation's `JSONSerialization` on generated and damaged documents.
///
/// Where they may differ, and why:
/// - lone surrogates: RFC 8259's grammar has them, Foundation cannot represent them;
/// - numbers beyond a double (`1e999`): grammar again; Foundation refuses them;
/// - depth: Foundation has its own limit, 512; documents here stay below ours;
/// - a comma before the end of an array or object: Foundation tolerates it, the grammar does not;
/// - a byte order mark, and UTF-16 or UTF-32 recognised by zero bytes: Foundation takes them, we do not.
/// Duplicate names both take. The generator avoids the last; the others are told apart below.
@Suite("JSON scanner against Foundation")
struct JSONScannerDifferentialTests {
    @Test("Both take and refuse the same documents", arguments: [UInt64(1), 2, 3, 4, UInt64.random(in: 5 ... .max)])
    func agreesWithFoundation(seed: UInt64) {
        var random = SplitMix(state: seed)
        var taken = 0
        for round in 0..<4000 {
            var bytes = Array(random.document().utf8)
            if round % 4 != 0 { random.damage(&bytes) }
            if bytes.contains(0) || bytes.starts(with: [0xEF, 0xBB, 0xBF]) { continue }
            let fault = scannerFault(bytes)
            if fault == nil { taken += 1 }
            if (fault == nil) != foundationTakes(bytes), !isLegitimate(bytes, fault) {
                let verdict = fault.map { "refuses (\($0))" } ?? "takes"
                Issue.record("seed \(seed): the scanner \(verdict): \(String(decoding: bytes, as: UTF8.self))")
            }
        }
        // Both sides of the comparison were exercised.
        #expect((1000..<3900).contains(taken), "seed \(seed): \(taken)")
    }

    @Test("Strings decode as Foundation decodes them", arguments: [UInt64(1), 2, UInt64.random(in: 3 ... .max)])
    func decodesAsFoundation(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        for _ in 0..<2000 {
            let bytes = Array(random.string().utf8)
            let ours = try? JSONScanner.string(bytes.span, in: 0..<bytes.count)
            let theirs = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed) as? String
            #expect(ours == theirs, "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
        }
    }

    private func scannerFault(_ bytes: [UInt8]) -> JSONFault? {
        do {
            try JSONScanner.checkValue(bytes.span, in: 0..<bytes.count)
            return nil
        } catch {
            return error
        }
    }

    private func foundationTakes(_ bytes: [UInt8]) -> Bool {
        (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
    }

    private func isLegitimate(_ bytes: [UInt8], _ fault: JSONFault?) -> Bool {
        guard let fault else {
            let text = String(decoding: bytes, as: UTF8.self)
            return text.contains(#/\\u[dD][89a-fA-F]/#) || text.contains(#/[eE]\+?[0-9]{3}/#)
        }
        guard fault.offset < bytes.count, [UInt8(ascii: "]"), UInt8(ascii: "}")].contains(bytes[fault.offset]) else {
            return false
        }
        return bytes[..<fault.offset].last { !" \n\r\t".utf8.contains($0) } == UInt8(ascii: ",")
    }
}

private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    mutating func pick(_ choices: [String]) -> String { choices[below(choices.count)] }

    mutating func document() -> String { space() + value(4) + space() }

    mutating func value(_ depth: Int) -> String {
        switch below(depth > 0 ? 8 : 5) {
        case 0: pick(["true", "false", "null"])
        case 1, 2: number()
        case 3, 4: string()
        case 5: "[" + list(depth) { random in random.value(depth - 1) } + "]"
        default:
            "{"
                + list(depth) { random in
                    random.string() + random.space() + ":" + random.space() + random.value(depth - 1)
                } + "}"
        }
    }

    mutating func list(_ depth: Int, _ element: (inout Self) -> String) -> String {
        let count = below(4)
        var output = space()
        for index in 0..<count {
            if index > 0 { output += "," + space() }
            output += element(&self) + space()
        }
        return output
    }

    mutating func space() -> String { pick(["", "", "", " ", "\n", "\t \r\n"]) }

    mutating func number() -> String {
        pick(["", "-"]) + pick(["0", "7", "10", "1234567890"]) + pick(["", "", ".0", ".25"])
            + pick(["", "", "e1", "E+2", "e-3"])
    }

    mutating func string() -> String {
        var output = "\""
        for _ in 0..<below(6) {
            output += pick([
                "a", "Z9", " ", "é", "€", "😀", "\u{7F}", "/", #"\\"#, #"\""#, #"\/"#, #"\b"#, #"\f"#, #"\n"#, #"\r"#,
                #"\t"#, #"\u0041"#, #"\u00e9"#,
                #"\uFFFD"#, #"\ud83d\ude00"#,
            ])
        }
        return output + "\""
    }

    /// Changes, removes, doubles or inserts a byte or two, mostly ones that matter to JSON.
    mutating func damage(_ bytes: inout [UInt8]) {
        let bytesThatMatter =
            Array("{}[]:,\"\\/0123456789-+.eEtrufalsn \n\t'".utf8) + [
                0x80, 0xBF, 0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0xFF, 0x1F,
            ]
        for _ in 0...below(2) where !bytes.isEmpty {
            let index = below(bytes.count)
            switch below(4) {
            case 0: bytes[index] = bytesThatMatter[below(bytesThatMatter.count)]
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(bytesThatMatter[below(bytesThatMatter.count)], at: index)
            default: bytes.insert(bytes[index], at: index)
            }
        }
    }
}
