internal import Foundation
internal import Holdfast
internal import Tracing

/// A request of OTLP in JSON: `ExportTraceServiceRequest`. Ids are hexadecimal, kinds are numbers, and whole numbers of 64 bits
/// are texts.
struct SpanForm: Encodable {
    private let resourceSpans: [ResourceSpans]

    /// The bytes of a request with these spans.
    static func bytes(_ spans: [SpanRecord], serviceName: String) throws -> [UInt8] {
        let resource: [Attribute] = [
            Attribute("service.name", .string(serviceName)), Attribute("telemetry.sdk.name", .string("holdfast")),
            Attribute("telemetry.sdk.language", .string("swift")),
        ]
        let scope = ScopeSpans(scope: Scope(name: "holdfast"), spans: spans.map(SpanEntry.init))
        let form = SpanForm(
            resourceSpans: [ResourceSpans(resource: Resource(attributes: resource), scopeSpans: [scope])])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(form))
    }

    private struct ResourceSpans: Encodable {
        let resource: Resource
        let scopeSpans: [ScopeSpans]
    }

    private struct Resource: Encodable { let attributes: [Attribute] }

    private struct ScopeSpans: Encodable {
        let scope: Scope
        let spans: [SpanEntry]
    }

    private struct Scope: Encodable { let name: String }
}

private struct SpanEntry: Encodable {
    let traceId: String
    let spanId: String
    let parentSpanId: String?
    let traceState: String?
    let flags: UInt32
    let name: String
    let kind: Int
    let startTimeUnixNano: String
    let endTimeUnixNano: String
    let attributes: [Attribute]
    let events: [Event]?
    let links: [Link]?
    let status: Status?

    init(_ record: SpanRecord) {
        traceId = record.trace.hexTraceID
        spanId = TraceContext.digits(record.trace.spanID)
        parentSpanId = record.parent.map(TraceContext.digits)
        traceState = record.trace.tracestate.isEmpty ? nil : record.trace.tracestate
        flags = record.trace.isSampled ? 1 : 0
        name = record.name
        kind =
            switch record.kind {
            case .internal: 1
            case .server: 2
            case .client: 3
            case .producer: 4
            case .consumer: 5
            }
        startTimeUnixNano = "\(record.start)"
        endTimeUnixNano = "\(record.end ?? record.start)"
        attributes = Attribute.list(record.attributes)
        events = record.events.isEmpty ? nil : record.events.map(Event.init)
        links = record.links.isEmpty ? nil : record.links.map(Link.init)
        status = record.status.map(Status.init)
    }

    struct Event: Encodable {
        let timeUnixNano: String
        let name: String
        let attributes: [Attribute]

        init(_ event: SpanEvent) {
            timeUnixNano = "\(event.nanosecondsSinceEpoch)"
            (name, attributes) = (event.name, Attribute.list(event.attributes))
        }
    }

    struct Link: Encodable {
        let traceId: String
        let spanId: String

        init(_ trace: TraceContext) { (traceId, spanId) = (trace.hexTraceID, TraceContext.digits(trace.spanID)) }
    }

    struct Status: Encodable {
        let code: Int
        let message: String?

        init(_ status: SpanStatus) {
            code = status.code == .ok ? 1 : 2
            message = status.message
        }
    }
}

/// A name and its value.
private struct Attribute: Encodable {
    enum Value {
        case string(String)
        case int(Int64)
        case bool(Bool)
        case double(Double)
    }

    let key: String
    let value: Value

    init(_ key: String, _ value: Value) { (self.key, self.value) = (key, value) }

    /// Sorted by name. Values of other types are texts.
    static func list(_ attributes: SpanAttributes) -> [Attribute] {
        var list: [Attribute] = []
        // They are no sequence.
        // swift-format-ignore: ReplaceForEachWithForLoop
        attributes.forEach { name, value in
            switch value {
            case .int32(let value): list.append(Attribute(name, .int(Int64(value))))
            case .int64(let value): list.append(Attribute(name, .int(value)))
            case .double(let value) where value.isFinite: list.append(Attribute(name, .double(value)))
            case .bool(let value): list.append(Attribute(name, .bool(value)))
            case .string(let value): list.append(Attribute(name, .string(value)))
            default: list.append(Attribute(name, .string("\(value)")))
            }
        }
        return list.sorted { $0.key < $1.key }
    }

    private enum Keys: String, CodingKey { case key, value }

    private enum Kinds: String, CodingKey { case stringValue, intValue, boolValue, doubleValue }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(key, forKey: .key)
        var kinds = container.nestedContainer(keyedBy: Kinds.self, forKey: .value)
        switch value {
        case .string(let value): try kinds.encode(value, forKey: .stringValue)
        case .int(let value): try kinds.encode("\(value)", forKey: .intValue)
        case .bool(let value): try kinds.encode(value, forKey: .boolValue)
        case .double(let value): try kinds.encode(value, forKey: .doubleValue)
        }
    }
}

extension TraceContext {
    fileprivate var hexTraceID: String { Self.digits(traceID.high) + Self.digits(traceID.low) }
}
