import Testing

@testable import Holdfast

@Suite("The rate limits that engines share") struct SharedRatesTests {
    private let limit = RateLimit(perSecond: 10, burst: 6)

    @Test("What one engine takes of a route's limit, another one of the process does not get") func engines() {
        let rates = SharedRates()
        let one = RouteRate(of: "a", limit, in: rates)
        let two = RouteRate(of: "a", limit, in: rates)
        let other = RouteRate(of: "b", limit, in: rates)
        #expect(one.allowance(now: .zero) == 6)
        one.take(4)
        #expect(two.allowance(now: .zero) == 2)
        two.take(2)
        #expect(one.allowance(now: .milliseconds(100)) == 1)
        #expect(other.allowance(now: .zero) == 6)
    }

    @Test("Each host has its part, and the parts together are the limit", arguments: 1...8) func hosts(count: Int) {
        let all = (0..<count).map { _ in
            RouteRate(of: "a", RateLimit(perSecond: 10, burst: 40), in: SharedRates(hosts: count))
        }
        var total = 0
        for step in 0...1000 {
            for host in all {
                let allowed = host.allowance(now: .milliseconds(step * 100)) ?? 0
                host.take(allowed)
                total += allowed
            }
        }
        // A hundred seconds, and the burst.
        #expect((1000 - count...1040).contains(total))
    }

    @Test("With more hosts there is less at once, with fewer more, and what was used counts on") func changes() {
        let rates = SharedRates()
        let route = RouteRate(of: "a", limit, in: rates)
        #expect(route.allowance(now: .zero) == 6)
        rates.divide(among: 3)
        #expect(route.allowance(now: .zero) == 2)
        route.take(2)
        #expect(route.allowance(now: .milliseconds(290)) == 0)
        rates.divide(among: 1)
        #expect(route.allowance(now: .milliseconds(300)) == 1)
        #expect(rates.hosts == 1)
        rates.divide(among: 0)
        #expect(rates.hosts == 1)
    }

    @Test("Another limit of a route begins anew, divided like the former; none lets any number go") func others() {
        let rates = SharedRates(hosts: 2)
        var route = RouteRate(of: "a", limit, in: rates)
        route.take(3)
        route.change(to: limit)
        #expect(route.allowance(now: .zero) == 0)
        route.change(to: RateLimit(perSecond: 100, burst: 50))
        #expect(route.outlook(now: .zero) == 25 && route.allowance(now: .zero) == 25)
        route.change(to: nil)
        #expect(route.allowance(now: .zero) == nil && route.nextAllowance(now: .zero) == nil)
        // As for each host, however many there are.
        rates.divide(among: 100)
        route.change(to: RateLimit(perSecond: 1, burst: 5))
        #expect(route.allowance(now: .zero) == 1)
    }
}
