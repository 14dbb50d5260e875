internal import Holdfast
internal import HoldfastService

/// What is wrong, the worst first.
enum TopTroubles {
    /// - Parameters:
    ///   - silence: why the owner has not answered lately.
    ///   - safe: makes a text safe to be shown.
    static func list(_ status: DeskStatus, silence: String?, safe: (String) -> String) -> [TopLine] {
        var faults: [String] = []
        var warnings: [String] = []
        if let silence { faults.append("no answer: \(silence)") }
        if status.blacklistDamage > 0 {
            faults.append(
                "the blacklist is damaged in \(Format.plural(status.blacklistDamage, "place")): see `holdfast journal verify`")
        }
        for lane in status.lanes {
            guard let words = lane.words else { continue }
            switch lane.state {
            case .stopped: faults.append("\(lane.key) is \(words)")
            case .paused, .running: warnings.append("\(lane.key): \(words)")
            }
        }
        for route in status.routes {
            if route.isAway { faults.append("route \(route.name): \(route.connection)") }
            if let holding = route.holding { warnings.append("route \(route.name) sends nothing: \(holding)") }
            for topic in route.topics {
                warnings.append("topic \(topic.topic) is set aside on route \(route.name): \(topic.reason)")
            }
        }
        for tag in status.pausedTags {
            warnings.append("tag \(String(decoding: tag.tag, as: UTF8.self)) is paused: \(Format.count(tag.held)) wait")
        }
        return faults.map { TopLine("! " + safe($0), .red) } + warnings.map { TopLine("! " + safe($0), .yellow) }
    }
}
