import Holdfast
import HoldfastPostgres
import Testing

@Suite("How many hosts live") struct LiveHostsTests {
    /// What looks show of a host's journal, for one that lives a beat further at each look.
    private func listed(
        _ id: Int32, _ name: String, host: String? = nil, beats: Int = 0, epoch: Int64 = 1, free: Bool = false,
        closed: Bool = false
    ) -> ListedJournal {
        ListedJournal(
            id: id, name: name, host: host ?? name,
            sighting: Sighting(epoch: epoch, beats: Int64(beats), isFree: free), isClosed: closed)
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

    @Test("A host counts when it accepts, and not while it starts, however often that is") func opening() {
        var hosts = LiveHosts()
        let openings = [listed(2, "b", closed: true), listed(3, "b#2", host: "b", closed: true)]
        #expect(hosts.looked(openings, mine: own, at: .zero) == 1)
        #expect(hosts.looked([listed(2, "b", beats: 1), openings[1]], mine: own, at: .seconds(2)) == 2)
        // A restart of one that counts changes nothing.
        #expect(hosts.looked([listed(2, "b", epoch: 3, closed: true), openings[1]], mine: own, at: .seconds(4)) == 2)
        #expect(hosts.looked([listed(2, "b", epoch: 3, closed: true)], mine: own, at: .seconds(60)) == 2)
        for second in stride(from: 62, to: 90, by: 2) {
            _ = hosts.looked([listed(2, "b", epoch: 3, closed: true)], mine: own, at: .seconds(second))
        }
        #expect(hosts.looked([listed(2, "b", epoch: 3, closed: true)], mine: own, at: .seconds(90)) == 1)
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

    @Test("Work is left to one that was heard of just now, and not to one that may come back")
    func present() {
        for end in [listed(2, "b", beats: 7, free: true), listed(2, "b", beats: 7)] {
            var hosts = LiveHosts()
            #expect(hosts.present == 1)
            _ = hosts.looked([listed(2, "b", beats: 7)], mine: own, at: .zero)
            #expect(hosts.present == 2)
            for second in [2, 4] {
                _ = hosts.looked([end], mine: own, at: .seconds(second))
                #expect(hosts.present == 2)
            }
            #expect(hosts.looked([end], mine: own, at: .seconds(6)) == 2 && hosts.present == 1)
            _ = hosts.looked([listed(2, "b", beats: 1, epoch: 3)], mine: own, at: .seconds(8))
            #expect(hosts.present == 2)
        }
    }

    @Test("While the database takes no beats of this host's own, those of others say nothing") func held() {
        var hosts = LiveHosts()
        func look(_ second: Int, own beats: Int) -> Int {
            hosts.looked([listed(1, "a", beats: beats), listed(2, "b", beats: 7)], mine: own, at: .seconds(second))
        }
        for second in stride(from: 0, through: 100, by: 2) { #expect(look(second, own: 3) == 2) }
        for second in stride(from: 102, to: 128, by: 2) { #expect(look(second, own: second) == 2) }
        #expect(look(128, own: 128) == 1)
    }

    @Test("While nobody looks, no host is taken for gone") func gap() {
        var hosts = LiveHosts()
        #expect(hosts.looked([listed(2, "b", beats: 7)], mine: own, at: .zero) == 2)
        // The database was away for an hour, and its beats have not gone on yet.
        #expect(hosts.looked([listed(2, "b", beats: 7)], mine: own, at: .seconds(3600)) == 2)
        #expect(hosts.looked([listed(2, "b", beats: 8)], mine: own, at: .seconds(3602)) == 2)
    }
}
