import Testing

@testable import HoldfastTransport

@Suite struct AddressBookTests {
    private var book = AddressBook(quarantine: .seconds(300))

    @Test("Addresses are tried in the resolver's order, each once") mutating func order() {
        #expect(book.order(["b", "a", "b", "c"], now: .zero) == ["b", "a", "c"])
    }

    @Test("Connections spread over the addresses, and an address whose connection has ended is the next")
    mutating func spread() {
        var dialed: [String] = []
        for _ in 0..<8 {
            let first = book.order(["a", "b", "c", "d"], now: .zero)[0]
            book.opened(first)
            dialed.append(first)
        }
        #expect(dialed == ["a", "b", "c", "d", "a", "b", "c", "d"])
        book.closed("c")
        #expect(book.order(["a", "b", "c", "d"], now: .zero) == ["c", "a", "b", "d"])
        for address in ["a", "a", "b", "b", "c", "d", "d", "d"] { book.closed(address) }
        #expect(book.order(["a", "b", "c", "d"], now: .zero) == ["a", "b", "c", "d"])
    }

    @Test("An address that refuses comes behind the others for a while, or until it gives a connection")
    mutating func refused() {
        book.opened("b")
        book.refused("a", now: .zero)
        #expect(book.order(["a", "b", "c"], now: .seconds(29)) == ["c", "b", "a"])
        #expect(book.order(["a", "b", "c"], now: .seconds(30)) == ["a", "c", "b"])
        book.refused("a", now: .seconds(31))
        book.opened("a")
        #expect(book.order(["a", "b", "c"], now: .seconds(32)) == ["c", "a", "b"])
        _ = book.stalled("c", now: .seconds(33))
        book.refused("a", now: .seconds(33))
        #expect(book.order(["a", "b", "c"], now: .seconds(34)) == ["b", "a", "c"])
    }

    @Test("An address that stalls comes behind the others for the time of its quarantine, and then in its place")
    mutating func quarantine() {
        _ = book.order(["a", "b", "c"], now: .zero)
        #expect(book.stalled("a", now: .seconds(10)) == true)
        #expect(book.order(["a", "b", "c"], now: .seconds(11)) == ["b", "c", "a"])
        #expect(book.order(["a", "b", "c"], now: .seconds(309)) == ["b", "c", "a"])
        #expect(book.order(["a", "b", "c"], now: .seconds(310)) == ["a", "b", "c"])
    }

    @Test("All addresses stall: none is left out, and the one that stalled first is tried first") mutating func all() {
        _ = book.order(["a", "b"], now: .zero)
        #expect(book.stalled("b", now: .seconds(1)) == true)
        #expect(book.stalled("a", now: .seconds(2)) == false)
        #expect(book.order(["a", "b"], now: .seconds(3)) == ["b", "a"])
    }

    @Test("The only address is not left out, and nobody is told that it were") mutating func only() {
        _ = book.order(["a"], now: .zero)
        #expect(book.stalled("a", now: .seconds(1)) == false)
        #expect(book.order(["a"], now: .seconds(2)) == ["a"])
    }

    @Test("An address that stalls again is told of once in a quarantine") mutating func again() {
        _ = book.order(["a", "b"], now: .zero)
        #expect(book.stalled("a", now: .seconds(1)) == true)
        #expect(book.stalled("a", now: .seconds(2)) == false)
        #expect(book.order(["a", "b"], now: .seconds(302)) == ["a", "b"])
        #expect(book.stalled("a", now: .seconds(303)) == true)
    }

    @Test("An address that the service has no longer is no other one to go to") mutating func gone() {
        _ = book.order(["a", "b"], now: .zero)
        _ = book.order(["a"], now: .seconds(1))
        #expect(book.stalled("a", now: .seconds(2)) == false)
    }

    @Test(
        "Each address has an even share of the time that is left, and a fourth of the whole at least",
        arguments: [
            (10.0, 1, 10.0), (10.0, 2, 5.0), (5.0, 1, 5.0), (10.0, 8, 2.5), (7.5, 7, 2.5), (2.0, 3, 2.0),
        ])
    func share(remaining: Double, count: Int, limit: Double) {
        #expect(
            AddressBook.limit(remaining: .seconds(remaining), of: .seconds(10), count: count) == .seconds(limit))
    }
}
