import Foundation
import Holdfast
import Testing

@testable import HoldfastService

@Suite("Reading YAML", .timeLimit(.minutes(2)))
struct YAMLReaderTests {
    @Test("Scalars stay text, with their places; what is nothing is nothing")
    func scalars() throws {
        let tree = try read("a: no\nb:   0123\nc: ~\nd: 'null'\ne: [x, \"y z\"]\n")
        #expect(tree?.place == .start)
        #expect(
            pairs(tree).map(\.value.content) == [
                .scalar("no"), .scalar("0123"), .empty, .scalar("null"),
                .sequence([scalar("x", 5, 5), scalar("y z", 5, 8)]),
            ])
        #expect(pairs(tree)[1].place == TextPlace(line: 2, column: 1))
        #expect(pairs(tree)[1].value.place == TextPlace(line: 2, column: 6))
    }

    @Test("A text of nothing but comments is nothing", arguments: ["", "\n\n", "# x\n", "---\n", "\u{FEFF}"])
    func empty(text: String) throws {
        let tree = try read(text)
        #expect(tree == nil || tree?.content == .empty)
    }

    @Test(
        "Keys that come twice are all kept, each with its own name and place, in whichever mapping and however quoted")
    func duplicates() throws {
        let tree = try read("a: 1\nb: {k: 1, 'k': 2, k: 3}\n\"a\": 2\nc: é\na: 3\n")
        #expect(pairs(tree).map(\.key) == ["a", "b", "a", "c", "a"])
        #expect(pairs(tree).map(\.place.line) == [1, 2, 3, 4, 5])
        #expect(pairs(pairs(tree)[1].value).map(\.key) == ["k", "k", "k"])
        #expect(pairs(pairs(tree)[1].value).map(\.place.column) == [5, 11, 19])
    }

    @Test("More duplicates than are hidden from Yams are still a fault with a place")
    func manyDuplicates() {
        let fault = fault("x: 1\n" + String(repeating: "a: 1\n", count: 200))
        #expect(fault?.message == "the key \"a\" is given twice")
        #expect((fault?.place.line ?? 0) > 1)
    }

    @Test(
        "What is no YAML is told with its place",
        arguments: [
            ("a: [1", 2, "did not find expected"), ("a:\n\t- b", 2, "a tab; lines are indented by spaces"),
            ("a: b: c", 1, "mapping values are not allowed"), ("a: \"\\q\"", 1, "unknown escape character"),
            ("a: 1\n---\nb: 2\n", 2, "another document"), ("a: 1\nb: \u{1}\n", 2, "control characters"),
            ("? [a]\n: b\n", 1, "a key is a word, not a list"), ("x: !include other.yaml\n", 1, "tags (!name)"),
            ("x: !!binary aGk=\n", 1, "tags (!name)"), ("x: *nowhere\n", 1, "undefined alias"),
        ])
    func faults(text: String, line: Int, words: String) {
        let fault = fault(text)
        #expect(fault?.message.contains(words) == true, "\(fault?.message ?? "it was taken")")
        #expect(fault?.place.line == line)
    }

    @Test("Bytes that are no UTF-8 are refused")
    func notUTF8() {
        #expect(throws: YAMLFault("is not UTF-8")) { try YAMLReader.read([0x61, 0x3A, 0x20, 0xFF]) }
    }

    @Test("Anchors are refused where they stand, with and without an alias")
    func anchors() {
        #expect(fault("a: 1\nb: &x {c: 1}\nd: *x\n")?.place == TextPlace(line: 2, column: 4))
        #expect(fault("a: &x 1\n")?.message.contains("write the value out") == true)
        #expect(fault("- &x a\n")?.place.column == 3)
    }

    @Test("An alias bomb is refused unread: as values, and as keys, which Yams compares node by node")
    func aliasBomb() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        for level in 1...30 {
            let references = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(references)]\n"
        }
        #expect(fault(text)?.message.contains("write the value out") == true)
        #expect(fault(text + "? *a30\n: 1\n? *a30\n: 2\n") != nil)
        // As many as come through: read in no time, and refused where the first anchor stands.
        var few = "a0: &a0 [x, x]\n"
        for level in 1...7 { few += "a\(level): &a\(level) [*a\(level - 1), *a\(level - 1)]\n" }
        #expect(fault(few + "? *a7\n: 1\n")?.place == TextPlace(line: 1, column: 5))
    }

    @Test("Stars that are no aliases cost nothing: in comments, and in texts")
    func stars() throws {
        let banner = String(repeating: "# *important* ****\n", count: 100)
        #expect(pairs(try read(banner + "a: \"*\"\nb: a*b # 2 * 3\n")).count == 2)
    }

    @Test(
        "Depth is bounded, in both styles",
        arguments: [
            String(repeating: "[", count: 100_000), String(repeating: "- ", count: 50_000),
            String(repeating: "{a: ", count: 30_000), String(repeating: "? ", count: 50_000),
            String(repeating: "[", count: 900) + String(repeating: "]", count: 900),
            String(repeating: "- ", count: 900) + "x",
        ])
    func depth(text: String) {
        let message = fault(text)?.message ?? ""
        #expect(message.contains("nest"), "\(message)")
    }

    @Test("A file that is too large is not looked at")
    func size() {
        let text = String(repeating: "#", count: YAMLReader.greatestByteCount + 1)
        #expect(fault(text)?.message.contains("has more than 131072 bytes") == true)
    }

    @Test("Any number of keys, and flow lists as long as a file may be, are read in bounded time")
    func large() throws {
        let count = 10_000
        let keys = (0..<count).map { "k\($0): v\n" }.joined()
        let tree = try read(keys)
        #expect(pairs(tree).count == count)
        var reader = ConfigReader(ConfigFile(name: "f", directory: "/", tree: tree), environment: [:])
        _ = reader.read()
        #expect(reader.problems.count == count)
        let list = "[" + String(repeating: "a,", count: 50_000) + "a]"
        guard case .sequence(let items)? = try read(list)?.content else { return #expect(Bool(false)) }
        #expect(items.count == 50_001)
        let nested = String(repeating: "[", count: 900) + String(repeating: "a,", count: 2000)
        #expect(fault(nested) != nil)
        let tooDeep = fault(String(repeating: "[", count: 2000))
        #expect(tooDeep?.message == "is nested too deeply; 16 levels are taken", "\(tooDeep?.message ?? "")")
    }

    @Test("A good file with bytes changed, cut, doubled and moved at random is read or refused, and nothing else")
    func mutations() throws {
        var random = Xoshiro256(seed: 0x5EED_C0F1)
        let original = Array(try ConfigExample.full().utf8)
        let spice = Array("&*!|>%@`[]{},:?-#'\"\\\t\n\u{FEFF}\u{85}~<".utf8)
        for round in 0..<600 {
            var bytes = original
            for _ in 0...Int.random(in: 0..<8, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.insert(spice.randomElement(using: &random) ?? 0, at: place)
                case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1..<40, using: &random)))
                default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 60)], at: place)
                }
                if bytes.isEmpty { bytes = original }
            }
            do throws(YAMLFault) {
                let file = ConfigFile(name: "f", directory: "/", tree: try YAMLReader.read(bytes))
                var reader = ConfigReader(file, environment: [:])
                _ = reader.read()
            } catch {
                #expect(!error.message.isEmpty, "round \(round)")
            }
        }
    }

    private func read(_ text: String) throws(YAMLFault) -> YAMLTree? { try YAMLReader.read(Array(text.utf8)) }

    private func fault(_ text: String) -> YAMLFault? {
        do throws(YAMLFault) {
            _ = try read(text)
            return nil
        } catch {
            return error
        }
    }

    private func pairs(_ tree: YAMLTree?) -> [YAMLTree.Pair] {
        if case .mapping(let pairs)? = tree?.content { pairs } else { [] }
    }

    private func scalar(_ text: String, _ line: Int, _ column: Int) -> YAMLTree {
        YAMLTree(content: .scalar(text), place: TextPlace(line: line, column: column))
    }
}
