internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

/// Lanes and their routes, paused tags, and the credentials: seen and changed.
enum PageLanes {
    static let operations: [PageOperation] = [
        .reading("api/lanes") { call in
            let status = try await call.journal.desk.status()
            let lanes = try await call.journal.read { try $0.status().lanes }
            return try PageReply.json(
                Lanes(
                    lanes: lanes.map { LaneRow($0, status) },
                    routes: status.routes.map { RouteForm($0, isNamed: true) }))
        },
        .change("api/lanes/pause", ["lane", "reason"]) { call in
            let lane = try LaneKey.read(try call.items.need("lane"))
            let reason = call.items["reason"] ?? ""
            try await call.journal.desk.pause(lane, reason: reason)
            call.audit.tell("lane \(lane) was paused" + because(reason))
            return try PageReply.json(LaneChangeForm(lane, "paused", reason: reason))
        },
        .change("api/lanes/resume", ["lane"]) { call in
            let lane = try LaneKey.read(try call.items.need("lane"))
            try await call.journal.desk.resume(lane)
            call.audit.tell("lane \(lane) was resumed")
            return try PageReply.json(LaneChangeForm(lane, "running"))
        },
        .change("api/routes/connect", ["route"]) { call in
            let route = try call.items.need("route")
            try await call.journal.desk.connect(route: route)
            call.audit.tell("route \(route) was told to try at once")
            return try PageReply.json(RouteChange(route: route))
        },
        .change("api/tags/pause", ["tag", "reason"]) { call in
            let tag = Array(try call.items.need("tag").utf8)
            let reason = call.items["reason"] ?? ""
            try await call.journal.desk.pause(tag: tag, reason: reason)
            call.audit.tell("tag \(words(tag)) was paused" + because(reason))
            return try PageReply.json(TagChangeForm(tag, "paused", reason: reason))
        },
        .change("api/tags/resume", ["tag"]) { call in
            let tag = Array(try call.items.need("tag").utf8)
            try await call.journal.desk.resume(tag: tag)
            call.audit.tell("tag \(words(tag)) was resumed")
            return try PageReply.json(TagChangeForm(tag, "running"))
        },
        .change("api/credentials/reload") { call in
            let reloads = try await call.journal.desk.reloadCredentials().map { ReloadForm($0) }
            let failed = reloads.count { $0.failure != nil }
            call.audit.tell(
                "credentials were read again on \(Format.plural(reloads.count, "route"))"
                    + (failed > 0 ? ", in vain on \(failed)" : ""))
            return try PageReply.json(Reloads(routes: reloads))
        },
    ]

    private struct RouteChange: Encodable {
        var route: String
    }

    private struct Lanes: Encodable {
        var lanes: [LaneRow]
        var routes: [RouteForm]
    }

    private struct Reloads: Encodable {
        var routes: [ReloadForm]
    }

    private static func because(_ reason: String) -> String { reason.isEmpty ? "" : ", because: \(reason)" }

    private static func words(_ tag: [UInt8]) -> String { String(decoding: tag, as: UTF8.self).debugDescription }
}
