import NIOCore
import Testing

@testable import HoldfastGateway

@Suite("Behind the last word of a binary connection")
struct LastWordTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    private func after(_ milliseconds: Int64) -> NIODeadline { start + .milliseconds(milliseconds) }

    @Test("Nothing is asked of the kernel before it has the word, and nothing any more when the client's kernel has it")
    func looks() {
        var word = LastWord(at: start, limit: .seconds(30))
        #expect(!word.isAwaitingAcknowledgement)
        #expect(word.look(isAcknowledged: true, at: after(1)) == .wait(until: after(30_000)))
        word.sent()
        #expect(word.isAwaitingAcknowledgement)
        #expect(word.look(isAcknowledged: false, at: after(2)) == .wait(until: after(3)))
        #expect(word.look(isAcknowledged: false, at: after(3)) == .wait(until: after(5)))
        for time: Int64 in 4..<10 { _ = word.look(isAcknowledged: false, at: after(time)) }
        #expect(word.look(isAcknowledged: false, at: after(10)) == .wait(until: after(50)))
        #expect(word.look(isAcknowledged: true, at: after(50)) == .wait(until: after(30_000)))
        #expect(!word.isAwaitingAcknowledgement)
    }

    @Test("However much a client writes, it is not reset before its kernel has the word")
    func notAcknowledged() {
        var word = LastWord(at: start, limit: .seconds(30))
        #expect(!word.isIgnored(at: after(20_000)))
        word.sent()
        _ = word.look(isAcknowledged: false, at: after(20_000))
        #expect(!word.isIgnored(at: after(29_999)))
    }

    @Test("A client that has the word, and had a moment to read it, is reset when it writes on")
    func ignored() {
        var word = LastWord(at: start, limit: .seconds(30))
        word.sent()
        _ = word.look(isAcknowledged: true, at: after(100))
        #expect(!word.isIgnored(at: after(299)))
        #expect(word.isIgnored(at: after(300)))
        #expect(word.isIgnored(at: after(20_000)))
    }

    @Test("The pause between two looks and the moment to read are together less than a quarter of a second")
    func quarter() {
        var word = LastWord(at: start, limit: .seconds(30))
        word.sent()
        var now = start
        // The client's kernel takes the word right behind a look.
        for _ in 0..<20 {
            guard case .wait(let next) = word.look(isAcknowledged: false, at: now) else { break }
            #expect(next + LastWord.grace - now < .milliseconds(250))
            now = next
        }
    }

    @Test("A client that does not close is closed when its time is over, and sooner when the listener ends")
    func limit() {
        var word = LastWord(at: start, limit: .seconds(30))
        word.sent()
        _ = word.look(isAcknowledged: true, at: after(1))
        #expect(word.look(isAcknowledged: false, at: after(29_999)) == .wait(until: after(30_000)))
        #expect(word.look(isAcknowledged: false, at: after(30_000)) == .close)
        word.hasten(at: after(10_000), limit: .seconds(1))
        #expect(word.look(isAcknowledged: false, at: after(11_000)) == .close)
        word.hasten(at: after(20_000), limit: .seconds(1))
        #expect(word.look(isAcknowledged: false, at: after(11_000)) == .close)
    }
}
