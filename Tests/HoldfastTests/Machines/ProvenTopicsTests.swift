import Testing

@testable import Holdfast

@Suite struct ProvenTopicsTests {
    @Test("What was written is read again, in its order, for the same service only") func kept() {
        var topics = ProvenTopics()
        for hash in [7, 3, UInt64.max, 9] { topics.insert(hash) }
        topics.remove(3)
        let bytes = topics.bytes(service: "https://api.example:443")
        let read = ProvenTopics(bytes, service: "https://api.example:443")
        #expect([7, 3, UInt64.max, 9].map { read.contains($0) } == [true, false, true, true])
        #expect(read.bytes(service: "https://api.example:443") == bytes)
        #expect(ProvenTopics(bytes, service: "https://API.example:443").contains(7))
        #expect(!ProvenTopics(bytes, service: "https://api.sandbox.example:443").contains(7))
        #expect(!ProvenTopics(bytes, service: "https://api.example:44").contains(7))
    }

    @Test("A note that was cut, or is of a newer version, is as good as none") func damaged() {
        var topics = ProvenTopics()
        topics.insert(7)
        let bytes = topics.bytes(service: "s")
        for count in 0..<bytes.count { #expect(!ProvenTopics(Array(bytes.prefix(count)), service: "s").contains(7)) }
        #expect(!ProvenTopics([2] + bytes.dropFirst(), service: "s").contains(7))
    }

    @Test("Only a change is news, once, and what was read is none") func news() {
        var topics = ProvenTopics()
        var news: [Bool] = []
        topics.insert(7)
        news.append(topics.takeNews())
        topics.insert(7)
        topics.remove(8)
        news.append(topics.takeNews())
        var read = ProvenTopics(topics.bytes(service: "s"), service: "s")
        news.append(read.takeNews())
        read.remove(7)
        news.append(read.takeNews())
        #expect(news == [true, false, false, true])
    }

    @Test("Of too many the oldest are forgotten") func bounded() {
        var topics = ProvenTopics()
        for hash in 0...UInt64(ProvenTopics.limit) { topics.insert(hash) }
        #expect(!topics.contains(0))
        #expect(topics.contains(1))
    }
}
