import Holdfast
import Testing

@testable import HoldfastJournal

@Suite("The index of identities")
struct IdentityIndexTests {
    @Test(
        "It finds what a dictionary finds, under random additions, removals, commits and roll-backs",
        arguments: [1, 2, 3])
    func model(seed: UInt64) {
        var generator = SplitMix64(state: seed)
        let index = IdentityIndex()
        var model: [Identity: UInt64] = [:]
        var staged = model
        var uid: UInt64 = 0
        // Few values in the lower half, so that slots collide and chains grow long.
        func identity() -> Identity {
            Identity(
                high: UInt64.random(in: 0..<4, using: &generator),
                low: UInt64.random(in: 0..<300, using: &generator) << 58
                    | UInt64.random(in: 0..<900, using: &generator))
        }
        for step in 0..<4000 {
            let one = identity()
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<6 where staged[one] == nil:
                uid += 1
                index.add(one, uid: uid)
                staged[one] = uid
            case 6..<8:
                // Only what is durable is dropped, and a second time never.
                guard let there = model[one], staged[one] == there else { continue }
                index.drop(one, uid: there)
                staged[one] = nil
            case 8:
                index.commit()
                model = staged
            case 9:
                index.rollBack()
                staged = model
            default: break
            }
            let probe = identity()
            let wanted = staged[probe]
            // Dropped ones stay until the commit; whether a UID has the identity is what the table says.
            let found = index.first(probe) { uid in staged[probe] == uid }
            #expect(found == wanted, "seed \(seed), step \(step)")
        }
        index.commit()
        #expect(index.count == staged.count, "seed \(seed)")
    }

    @Test("It takes 16 bytes a slot, and between a third and three quarters of the slots are taken")
    func size() {
        let index = IdentityIndex()
        var generator = SplitMix64(state: 5)
        for uid in 1...200_000 as ClosedRange<UInt64> {
            index.fill(Identity(high: generator.next(), low: generator.next()), uid: uid)
        }
        #expect(index.count == 200_000)
        #expect(index.capacity * 3 / 4 >= 200_000 && index.capacity < 3 * 200_000)
    }
}
