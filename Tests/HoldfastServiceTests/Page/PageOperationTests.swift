import Foundation
import HoldfastControl
import HoldfastJournal
import HoldfastPage
import Testing

@testable import HoldfastService

@Suite("The operations of the operators' page")
struct PageOperationTests {
    private struct Document: Decodable {
        struct Operation: Decodable {
            struct Parameter: Decodable { var name: String }
            struct Body: Decodable {
                struct Content: Decodable { var schema: Schema }
                struct Schema: Decodable { var properties: [String: Kind] }
                struct Kind: Decodable {}
                var content: [String: Content]
            }
            var parameters: [Parameter]?
            var requestBody: Body?
            /// Absent for what everything takes.
            var security: [[String: [String]]]?
        }
        var paths: [String: [String: Operation]]
    }

    @Test("openapi.json has every operation, with the names that it takes, and no other") func described() throws {
        let asset = try #require(PageAssets.all.first { $0.path == "api/openapi.json" })
        let document = try JSONDecoder().decode(Document.self, from: Data(asset.bytes))
        var described: [String: [String]] = [:]
        for (path, methods) in document.paths {
            for (method, operation) in methods {
                let body = operation.requestBody?.content["application/json"]?.schema.properties.keys.sorted()
                described["\(method) \(path)"] = body ?? (operation.parameters ?? []).map(\.name).sorted()
            }
        }
        var served = [
            "get /api/openapi.json": [], "get /api/session": [], "post /api/session": ["token"],
            "post /api/session/end": [],
            "get /api/events": [String](),
        ]
        for operation in PageOperation.all {
            served["\(operation.isChange ? "post" : "get") /\(operation.path)"] = operation.names.sorted()
        }
        #expect(described == served)
        // Who signs in has nothing yet.
        let secured = document.paths.filter {
            $0.value["post"]?.security != [["bearer": []], ["session": [], "csrf": []]]
        }
        #expect(secured.filter { $0.value["post"] != nil }.keys.sorted() == ["/api/session"])
        #expect(document.paths["/api/session"]?["post"]?.security == [])
    }

    @Test("A name that is not known is refused, so that no more is meant than was said") func names() throws {
        #expect(throws: ControlError.self) { try PageItems(query: "topik=a", ["topic"]) }
        #expect(throws: ControlError.self) { try PageItems(body: Array(#"{"topik":"a"}"#.utf8), ["topic"]) }
        #expect(throws: ControlError.self) { try PageItems(body: Array(#"["topic"]"#.utf8), ["topic"]) }
        for twice in [#"{"topic":"a","topic":"b"}"#, #"{"topic":"a","all":true,"to\u0070ic":"a"}"#] {
            let error = #expect(throws: ControlError.self) {
                try PageItems(body: Array(twice.utf8), ["topic", "all"])
            }
            #expect(error?.message == "\"topic\" comes twice in the request's body: give it once")
        }
        for wrong in ["{}", "[\"a\"]", "null", "1.5"] {
            let error = #expect(throws: ControlError.self) {
                try PageItems(body: Array(#"{"topic":\#(wrong),"all":true}"#.utf8), ["topic", "all"])
            }
            #expect(error?.message.contains("topic takes a text, a whole number, true or false") == true)
        }
        let items = try PageItems(body: Array(#"{"topic":"a","uids":7,"all":true}"#.utf8), ["topic", "uids", "all"])
        #expect(items["topic"] == "a" && items["uids"] == "7" && items["all"] == "true" && !items.choosesAll)
        #expect(try PageItems(body: Array(#"{"all":true}"#.utf8), ["all"]).choosesAll)
    }

    @Test("Entries are chosen as by the flags of the tool") func filter() throws {
        let query =
            "lane=a%2Fimmediate&topic=t&token=00fc&tag=sale*&reason=Unregistered&uids=7-9&producer=p&older-than=1h"
        let filter = try PageItems(query: query, PageItems.entryNames).filter([.rejected])
        #expect(
            filter.lanes.map(\.description) == ["a/immediate"] && filter.topics == ["t"] && filter.states == [.rejected]
        )
        #expect(filter.tokens.count == 1 && filter.tags.map(\.text) == ["sale*"] && filter.uids.description == "7-9")
        #expect(filter.producers == ["p"] && filter.reasons.count == 1 && filter.acceptedBefore != nil)
        for wrong in ["token=xyz", "uids=a", "older-than=x", "apns-id=1", "address=x"] {
            #expect(throws: ControlError.self, "\(wrong)") {
                try PageItems(query: wrong, PageItems.entryNames).filter([.rejected])
            }
        }
        #expect(try EntryStates.read("unconfirmed").count == 4 && EntryStates.read("rejected") == [.rejected])
        #expect(throws: ControlError.self) { try EntryStates.read("gone") }
    }
}
