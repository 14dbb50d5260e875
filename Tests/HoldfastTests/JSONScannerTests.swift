import Holdfast
import Testing

/// Cases in the manner of github.com/nst/JSONTestSuite, written by hand from RFC 8259.
@Suite("JSON scanner")
struct JSONScannerTests {
    static let taken: [String] = [
        "[]", "{}", " [] ", "\t{\n}\r", "[[]]", "[{}]", #"{"":0}"#, #"{"a":[]}"#, #"{"a":1,"a":2}"#, "[1,2]",
        "null", "true", "false", "0", "-0", "-1", "1.5", "0.5", "-0.0", "1e1", "1E+1", "1e-10", "0e0",
        "123456789012345678901",
        "1e400", #""""#, #""a""#, #""\"\\\/\b\f\n\r\t""#, #""\u0000""#, #""\u00e9\u00E9""#, #""\ud83d\ude00""#,
        #""\ud800""#, #""\udc00\ud800""#, "\"\u{7F}\"", "\"é\"", "\"\u{800}\u{FFFF}\"", "\"\u{10000}\u{10FFFF}\"",
        "\"\u{2028}\"", #"[null, true,false ,0, "x",{},[]]"#, #"{"a":{"b":{"c":null}}}"#, #"{"asd":"sdf","dfg":"fgh"}"#,
    ]

    static let refused: [String] = [
        "", " ", "[", "]", "{", "}", "[[]", "[]]", "{}}", "[}", "{]", "[1", "[1,", "[1,]", "[,1]", "[1,,2]", "[,]",
        "[1 2]", "[a]",
        "[\"a\"", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,\"a\":1}", "{\"a\":1,,\"b\":2}", "{\"a\" 1}", "{\"a\"::1}",
        "{a:1}", "{'a':1}", "{1:1}", "{null:1}", "{\"a\":1 \"b\":2}", "{\"a\":[}", "[{\"a\":1]", "{\"a\":1]",
        "[\"a\":1]",
        "nul", "nulll", "True", "truth", "fals", "NaN", "Infinity", "-Infinity", "+1", "-", "--1", "01", "-01", "00",
        "1.", ".5",
        "1.e1", "1e", "1e+", "1E-", "1e1.5", "0x10", "1_000", "1 000", "1a", "-a", "1.5.5", "'a'", "\"", "\"a", "\"\\",
        "\"\\\"",
        #""\a""#, #""\x00""#, #""\u""#, #""\u1""#, #""\u12""#, #""\u123""#, #""\u123g""#, #""\U0041""#, #""\'""#,
        "\"\t\"", "\"\n\"", "\"\u{0}\"", "\"\u{1F}\"", "[\u{0C}]", "[\u{A0}]", "[]\u{0}", "\u{FEFF}{}", "[] x", "{}{}",
        "1 2", "/**/[]",
        "[]//", "#", "[1]#", "{\"a\":1}/*", "undefined", "\u{200B}[]",
    ]

    static let notUTF8: [[UInt8]] = [
        [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x20], [0xC2, 0xC2], [0xE0, 0x80, 0x80],
        [0xE0, 0x9F, 0xBF],
        [0xE1, 0x80], [0xE1, 0x80, 0x20], [0xE1, 0x20, 0x80], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xEF, 0xBF],
        [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x90, 0x80], [0xF1, 0x80, 0x80, 0x20],
        [0xF4, 0x90, 0x80, 0x80],
        [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE], [0xFF],
    ]

    @Test("What RFC 8259 calls JSON is taken", arguments: taken)
    func takesJSON(_ text: String) throws {
        try check(Array(text.utf8))
    }

    @Test("What RFC 8259 does not call JSON is refused", arguments: refused)
    func refusesOther(_ text: String) {
        #expect(throws: JSONFault.self) { try check(Array(text.utf8)) }
    }

    @Test("Bytes that are not UTF-8 are refused wherever they are, and named", arguments: notUTF8)
    func refusesBadUTF8(_ bytes: [UInt8]) {
        let fault = #expect(throws: JSONFault.self) { try check(Array(#"["ab"#.utf8) + bytes + Array(#""]"#.utf8)) }
        #expect(fault == JSONFault(.invalidUTF8, at: 4))
        #expect(throws: JSONFault.self) { try check([0x5B] + bytes + [0x5D]) }
        #expect(throws: JSONFault.self) { try check(Array(#"{"ab"#.utf8) + bytes + Array(#"":1}"#.utf8)) }
    }

    @Test("Every prefix of a document is refused without reading past it")
    func refusesPrefixes() throws {
        let text = Array(#" {"a\u00e9é":[1,-2.5e+3,true,null,{"x":"😀\ud83d\ude00"}],"b":{"c":[]}}"#.utf8)
        try check(text)
        for count in text.indices {
            #expect(!JSONScanner.isObject(Array(text[..<count])), "\(count) bytes")
            // The same with the rest behind the range: nothing may be read there.
            let takes = JSONScanner.isObject(text.span, in: 0..<count)
            #expect(!takes, "\(count) bytes")
        }
    }

    @Test("A payload must be an object", arguments: ["[]", "null", "1", "\"a\"", "true", "[{}]"])
    func wantsObject(_ text: String) {
        let fault = #expect(throws: JSONFault.self) { try JSONScanner.checkObject(Array(text.utf8)) }
        #expect(fault?.reason == .notAnObject)
    }

    @Test("Nesting is taken to the limit and refused beyond it, at any length, without exhausting the stack")
    func boundsDepth() throws {
        func nested(_ depth: Int, _ open: String, _ close: String) -> [UInt8] {
            Array((String(repeating: open, count: depth) + "0" + String(repeating: close, count: depth)).utf8)
        }
        let limit = JSONScanner.maximumDepth
        for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
            try check(nested(limit, open, close))
            let fault = #expect(throws: JSONFault.self) { try check(nested(limit + 1, open, close)) }
            #expect(fault == JSONFault(.tooDeep, at: open.utf8.count * limit))
            #expect(throws: JSONFault.self) { try check(Array(String(repeating: open, count: 1_000_000).utf8)) }
        }
        // The pull form counts the outermost container too.
        let bytes = nested(limit + 1, "[", "]")
        #expect(throws: JSONFault.self) { try elements(bytes) }
        #expect(try elements(nested(limit, "[", "]")).count == 1)
    }

    @Test(
        "A fault names the first wrong byte",
        arguments: [
            (#"{"a":1,}"#, JSONFault(.expectedName, at: 7)),
            (#"{"a" 1}"#, JSONFault(.expectedColon, at: 5)),
            (#"{"a":1"#, JSONFault(.endOfInput, at: 6)),
            (#"{"a":01}"#, JSONFault(.invalidNumber, at: 6)),
            (#"{"a":tru}"#, JSONFault(.invalidLiteral, at: 5)),
            (#"{"a":"\q"}"#, JSONFault(.invalidEscape, at: 6)),
            ("{\"a\":\"x\ny\"}", JSONFault(.controlCharacter, at: 7)),
            (#"{"a":1} x"#, JSONFault(.trailingBytes, at: 8)),
            (#"{"a":[1 2]}"#, JSONFault(.expectedCommaOrEnd, at: 8)),
            (#"{"a":?}"#, JSONFault(.unexpectedByte, at: 5)),
            ("  ", JSONFault(.noValue, at: 2)),
        ])
    func namesFault(_ text: String, _ expected: JSONFault) {
        let fault = #expect(throws: JSONFault.self) { try JSONScanner.checkObject(Array(text.utf8)) }
        #expect(fault == expected)
    }

    @Test("Members come one by one, with the value byte for byte as it is written")
    func readsMembers() throws {
        let text = Array(#"xx{ "a" : 1.50 , "p" : {"x" : [ 1 ] } ,"s":"\u0041","n":null,"b":false,"l":[]} "#.utf8)
        var members = try JSONMembers(text.span, in: 2..<text.count)
        var seen: [String] = []
        while let member = try members.next(text.span) {
            let name = try JSONScanner.string(text.span, in: member.name)
            seen.append("\(name) \(member.value.kind) \(String(decoding: text[member.value.range], as: UTF8.self))")
        }
        #expect(
            seen == [
                "a number 1.50", #"p object {"x" : [ 1 ] }"#, #"s string "\u0041""#, "n null null", "b boolean false",
                "l array []",
            ])
        let afterEnd = try members.next(text.span)
        #expect(afterEnd == nil)
    }

    @Test("Read name by name, a value is passed over, looked at, or gone into, and the members around it go on")
    func readsNames() throws {
        let text = Array(
            #"{"skipped":[{"x":1}],"read": 7 ,"entered" : {"a":{"b":1},"c":"d"} ,"none":[],"last":true}"#.utf8)
        var members = try JSONMembers(text.span, in: 0..<text.count)
        var seen: [String] = []
        while let name = try members.nextName(text.span) {
            let name = try JSONScanner.string(text.span, in: name)
            seen.append(name)
            if name == "read" {
                let value = try members.value(text.span)
                seen.append(String(decoding: text[value.range], as: UTF8.self))
            }
            guard var inner = members.members(text.span) else { continue }
            while let name = try inner.nextName(text.span) {
                seen.append("\(try JSONScanner.string(text.span, in: name)) inside")
            }
            let afterEnd = try inner.nextName(text.span)
            #expect(afterEnd == nil)
        }
        #expect(seen == ["skipped", "read", "7", "entered", "a inside", "c inside", "none", "last"])
    }

    @Test(
        "Names are refused where the object around them or within them is wrong",
        arguments: refused + [#"{"a":{"b":1 "c":2}}"#, #"{"a":{"b":1,}}"#, #"{"a":{,"b":1}}"#, #"{"a":{"b":1}"#])
    func namesRefuse(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(throws: JSONFault.self) {
            var members = try JSONMembers(bytes.span, in: 0..<bytes.count)
            while try members.nextName(bytes.span) != nil {
                guard var inner = members.members(bytes.span) else { continue }
                while try inner.nextName(bytes.span) != nil {}
            }
        }
    }

    @Test(
        "aps is found where it is an object, and read no further than asked",
        arguments: [
            (#"{"aps":{"alert":1}}"#, true), (#"{"a":{"aps":{}},"aps":{}}"#, true), (#"{"aps":1,"aps":{}}"#, true),
            (#"{"\u0061ps":{} and then no JSON"#, true), (#"{"aps":[]}"#, false), (#"{"APS":{}}"#, false),
            ("{}", false),
        ])
    func findsAPS(_ text: String, _ isThere: Bool) throws {
        let bytes = Array(text.utf8)
        let aps = try JSONMembers.aps(of: bytes.span, in: 0..<bytes.count)
        #expect((aps != nil) == isThere)
    }

    @Test("The members of what is no object are refused at the latest at the end", arguments: refused)
    func membersRefuse(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(throws: JSONFault.self) {
            var members = try JSONMembers(bytes.span, in: 0..<bytes.count)
            while try members.next(bytes.span) != nil {}
        }
        #expect(throws: JSONFault.self) { try elements(bytes) }
    }

    @Test(
        "Strings decode, whichever way they are written",
        arguments: [
            (#""""#, ""), (#""a b""#, "a b"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9""#, "é"),
            (#""\u0000""#, "\0"), (#""\ud83d\ude00!""#, "😀!"), (#""😀é""#, "😀é"),
            (#""\uFFFF\u0800""#, "\u{FFFF}\u{800}"),
            (#""\udbff\udfff""#, "\u{10FFFF}"), (#""\ud800\udc00""#, "\u{10000}"),
        ])
    func decodesStrings(_ text: String, _ expected: String) throws {
        let bytes = Array(text.utf8)
        #expect(try string(bytes) == expected)
        #expect(isString(bytes, expected))
        #expect(!isString(bytes, expected + "x"))
    }

    @Test(
        "Half a surrogate pair does not decode",
        arguments: [
            #""\ud800""#, #""\udc00""#, #""\ud800x""#, #""\ud800\n""#, #""\ud800\ud800""#, #""\udc00\ud800""#,
            #""a\ud83d""#,
        ])
    func refusesLoneSurrogates(_ text: String) {
        let bytes = Array(text.utf8)
        let fault = #expect(throws: JSONFault.self) { try string(bytes) }
        #expect(fault?.reason == .loneSurrogate)
    }

    @Test(
        "Whole numbers decode to the ends of 64 bits",
        arguments: [
            ("0", 0), ("-0", 0), ("42", 42), ("-42", -42), ("9223372036854775807", Int64.max),
            ("-9223372036854775808", Int64.min),
        ])
    func decodesIntegers(_ text: String, _ expected: Int64) throws {
        let bytes = Array(text.utf8)
        #expect(try integer(bytes) == expected)
    }

    @Test(
        "What is no whole number of 64 bits is refused",
        arguments: [
            "9223372036854775808", "-9223372036854775809", "99999999999999999999999", "1.0", "1e3", "\"1\"", "-",
            "null",
        ])
    func refusesOtherNumbers(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(throws: JSONFault.self) { try integer(bytes) }
    }

    private func string(_ bytes: [UInt8]) throws -> String { try JSONScanner.string(bytes.span, in: 0..<bytes.count) }

    private func integer(_ bytes: [UInt8]) throws -> Int64 { try JSONScanner.integer(bytes.span, in: 0..<bytes.count) }

    private func isString(_ bytes: [UInt8], _ literal: String) -> Bool {
        JSONScanner.isString(bytes.span, in: 0..<bytes.count, equalTo: literal)
    }

    private func check(_ bytes: [UInt8]) throws { try JSONScanner.checkValue(bytes.span, in: 0..<bytes.count) }

    private func elements(_ bytes: [UInt8]) throws -> [JSONValue] {
        var elements = try JSONElements(bytes.span, in: 0..<bytes.count)
        var values: [JSONValue] = []
        while let value = try elements.next(bytes.span) { values.append(value) }
        return values
    }
}
