import NIOCore
import Testing

@testable import HoldfastGateway

@Suite("Who has to go where there is no more room")
struct GuestsTests {
    private func address(_ text: String) throws -> GuestAddress {
        try #require(GuestAddress(try SocketAddress(ipAddress: text, port: 1)))
    }

    private func admit(
        _ id: Int, from address: GuestAddress?, limit: Int = 4, addressLimit: Int = .max,
        hasRoom: Bool = true, to guests: inout Guests<Int>
    ) -> Guests<Int>.Admission {
        guests.admit(id, from: address, limit: limit, addressLimit: addressLimit, hasRoom: hasRoom)
    }

    @Test("When all places are taken the oldest stranger goes of the address that has the most") func crowd() throws {
        var guests = Guests<Int>(asksForCredentials: true)
        let (one, other) = (try address("192.0.2.1"), try address("192.0.2.2"))
        #expect(admit(1, from: other, to: &guests) == .admitted)
        for id in 2...4 { #expect(admit(id, from: one, to: &guests) == .admitted) }
        #expect(admit(5, from: other, to: &guests) == .inPlaceOf(2))
        #expect(guests.count == 4)
        // Of two with as many, the one that was there first.
        #expect(admit(6, from: one, to: &guests) == .inPlaceOf(1))
        guests.remove(2)
        #expect(guests.count == 4 && guests.strangerCount == 4)
    }

    @Test("Who has proven himself stays, and where all have nobody is let in") func proven() throws {
        var guests = Guests<Int>(asksForCredentials: true)
        let one = try address("192.0.2.1")
        for id in 1...4 {
            #expect(admit(id, from: one, to: &guests) == .admitted)
            guests.proved(id)
        }
        #expect(admit(5, from: one, to: &guests) == .refused(.connections))
        guests.remove(4)
        #expect(admit(6, from: one, to: &guests) == .admitted)
        #expect(admit(7, from: one, to: &guests) == .inPlaceOf(6))
    }

    @Test("Without room in the process a stranger goes too, below the listener's own limit") func descriptors() throws {
        var guests = Guests<Int>(asksForCredentials: true)
        #expect(admit(1, from: nil, to: &guests) == .admitted)
        #expect(admit(2, from: nil, hasRoom: false, to: &guests) == .inPlaceOf(1))
        guests.proved(2)
        #expect(admit(3, from: nil, hasRoom: false, to: &guests) == .refused(.descriptors))
    }

    @Test("Where nobody has to prove anything the newcomer is refused, and what is asked from then on holds for all")
    func open() throws {
        var guests = Guests<Int>(asksForCredentials: false)
        for id in 1...4 { #expect(admit(id, from: nil, to: &guests) == .admitted) }
        #expect(admit(5, from: nil, to: &guests) == .refused(.connections))
        guests.proved(1)
        guests.asksForCredentials = true
        #expect(admit(5, from: nil, to: &guests) == .inPlaceOf(2))
        guests.asksForCredentials = false
        #expect(admit(6, from: nil, to: &guests) == .refused(.connections))
    }

    @Test("Who has proven nothing that still holds is a stranger again, as old as it is") func doubted() throws {
        var guests = Guests<Int>(asksForCredentials: true)
        for id in 1...4 {
            #expect(admit(id, from: nil, to: &guests) == .admitted)
            guests.proved(id)
        }
        guests.doubted(3)
        guests.doubted(2)
        #expect(admit(5, from: nil, to: &guests) == .inPlaceOf(2))
        guests.proved(3)
        guests.doubted(2)
        #expect(admit(6, from: nil, to: &guests) == .inPlaceOf(5))
    }

    @Test("One address has no more than its share, whoever is behind it") func share() throws {
        var guests = Guests<Int>(asksForCredentials: true)
        let (one, other) = (try address("192.0.2.1"), try address("192.0.2.2"))
        #expect(admit(1, from: one, addressLimit: 2, to: &guests) == .admitted)
        #expect(admit(2, from: one, addressLimit: 2, to: &guests) == .admitted)
        guests.proved(1)
        #expect(admit(3, from: other, addressLimit: 2, to: &guests) == .admitted)
        // Beyond it a stranger of its own goes, and nobody else.
        #expect(admit(4, from: one, addressLimit: 2, to: &guests) == .inPlaceOf(2))
        guests.proved(4)
        #expect(admit(5, from: one, addressLimit: 2, to: &guests) == .refused(.address))
        guests.remove(1)
        #expect(admit(6, from: one, addressLimit: 2, to: &guests) == .admitted)
    }

    @Test("An IPv6 network of 64 bits is one address; IPv4 through a socket for both is itself") func addresses() throws
    {
        #expect(try address("2001:db8:0:1::1") == address("2001:db8:0:1:ffff::2"))
        #expect(try address("2001:db8:0:1::1") != address("2001:db8:0:2::1"))
        #expect(try address("::ffff:192.0.2.1") == address("192.0.2.1"))
        #expect(try address("::ffff:192.0.2.1") != address("::ffff:192.0.2.2"))
        #expect(try address("::1") != address("0.0.0.1"))
        #expect(GuestAddress(try SocketAddress(unixDomainSocketPath: "/x")) == nil)
    }
}
