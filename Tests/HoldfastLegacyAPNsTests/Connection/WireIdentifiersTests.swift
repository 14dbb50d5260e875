import Testing

@testable import HoldfastLegacyAPNs

@Suite("What frames are called on the wire") struct WireIdentifiersTests {
    @Test("They count up from the first, and leave out 0 at the wrap") func wrap() {
        let identifiers = WireIdentifiers(first: .max - 1)
        #expect((1...5).map { identifiers.identifier(of: $0) } == [.max - 1, .max, 1, 2, 3])
    }

    @Test("None is ever 0, whatever the first is", arguments: [0, 1, 2, 0x7FFF_FFFF, 0x8000_0000, .max] as [UInt32])
    func neverZero(first: UInt32) {
        let identifiers = WireIdentifiers(first: first)
        let all: UInt64 = 0xFFFF_FFFF
        for start in [1, 0x7FFF_FFFE, all - 3, all + 1, 2 * all - 3] {
            for number in start...(start + 8) {
                let identifier = identifiers.identifier(of: number)
                #expect(identifier != 0)
                #expect(identifiers.number(of: identifier, last: number) == number)
                #expect(identifiers.number(of: identifier, last: number + all - 1) == number)
                #expect(identifiers.number(of: identifier, last: number + all) == number + all)
            }
        }
    }

    @Test("A name that was not given out belongs to no frame") func unknown() {
        let identifiers = WireIdentifiers(first: .max)
        #expect(identifiers.number(of: .max, last: 0) == nil)
        #expect(identifiers.number(of: .max, last: 1) == 1)
        #expect(identifiers.number(of: 1, last: 1) == nil)
        #expect(identifiers.number(of: 1, last: 2) == 2)
        #expect(identifiers.number(of: .max - 1, last: 2) == nil)
        #expect(identifiers.number(of: 0, last: 1000) == nil)
    }
}
