import Holdfast
import HoldfastPostgres
import Testing

@Suite("How many hosts live") struct LiveHostsTests {
    /// What looks show of a host's journal, for one that lives a beat further at each look.
    private func listed(
        _ id: Int32, _ name: String, host: String? = nil, beats: Int = 0, epoch: Int64 = 1, free: Bool = false
    ) -> ListedJournal {
        ListedJournal(
            id: id, name: name, host: host ?? name,
            sighting: Sighting(epoch: epoch, beats: Int64(beats), isFree: free), isClosed: false)
    }

    private let own: Set<Int32> = [1]

    @Test("A host alone is one, and each other one counts from the first look that shows it") func come() {
        var hosts = LiveHosts()
        #expect(hosts.looked([], mine: own, at: .zero) == 1)
        #expect(hosts.looked([listed(1, "a")], mine: own, at: .seconds(2)) == 1)
        #expect(hosts.looked([listed(1, "a"), listed(2, "b")], mine: own, at: .seconds(4)) == 2)
        #expect(
            hosts.looked(
                [listed(1, "a"), listed(2, "b", beats: 1), listed(3, "a#2", host: "a")], mine: own, at: .seconds(6))
                == 3)
    }

    @Test("A journal that was taken over, or given up before, is no host") func none() {
        var hosts = LiveHosts()
        let journals = [
            listed(1, "a"), listed(2, "b", host: "a"), listed(3, "c", free: true), listed(4, "d", host: "da"),
            listed(5, "e#x", host: "e"), listed(6, "a", host: "b"),
        ]
        #expect(hosts.looked(journals, mine: own.union([2]), at: .zero) == 1)
    }

    @Test("One whose journal another host has counts no more, and not twice when it comes back") func takenOver() {
        for (taker, mine) in [("a", own.union([2])), ("c", own)] {
            var hosts = LiveHosts()
            #expect(hosts.looked([listed(2, "b", beats: 7)], mine: own, at: .zero) == 2)
            let taken = listed(2, "b", host: taker, beats: 8)
            #expect(hosts.looked([taken], mine: mine, at: .seconds(12)) == 1)
            #expect(hosts.looked([taken, listed(3, "b#2", host: "b")], mine: mine, at: .seconds(14)) == 2)
        }
    }

    @Test("One that ends or is killed counts for half a minute, so that a restart changes nothing")
    func restart() {
        for end in [listed(2, "b", beats: 7, free: true), listed(2, "b", beats: 7)] {
            var hosts = LiveHosts()
            #expect(hosts.looked([listed(2, "b", beats: 7)], mine: own, at: .zero) == 2)
            for second in stride(from: 2, to: 30, by: 2) {
                #expect(hosts.looked([end], mine: own, at: .seconds(second)) == 2)
            }
            var gone = hosts
            #expect(gone.looked([end], mine: own, at: .seconds(30)) == 1)
            #expect(gone.looked([end], mine: own, at: .seconds(32)) == 1)
            #expect(hosts.looked([listed(2, "b", beats: 1, epoch: 3)], mine: own, at: .seconds(30)) == 2)
            #expect(hosts.looked([listed(2, "b", beats: 2, epoch: 3)], mine: own, at: .seconds(58)) == 2)
        }
    }

    @Test("While nobody looks, no host is taken for gone") func gap() {
        var hosts = LiveHosts()
        #expect(hosts.looked([listed(2, "b", beats: 7)], mine: own, at: .zero) == 2)
        // The database was away for an hour, and its beats have not gone on yet.
        #expect(hosts.looked([listed(2, "b", beats: 7)], mine: own, at: .seconds(3600)) == 2)
        #expect(hosts.looked([listed(2, "b", beats: 8)], mine: own, at: .seconds(3602)) == 2)
    }
}
