import Foundation
import HoldfastMocking

/// The body of a refusal, as Google writes it.
enum FCMErrorBody {
    /// Words that come without an `FcmError`.
    private static let codes: Set<String> = [
        "UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
        "DEADLINE_EXCEEDED",
    ]

    private static func code(ofStatus status: Int) -> String {
        switch status {
        case 401: "UNAUTHENTICATED"
        case 403: "PERMISSION_DENIED"
        case 404: "NOT_FOUND"
        case 429: "RESOURCE_EXHAUSTED"
        case 500: "INTERNAL"
        case 504: "DEADLINE_EXCEEDED"
        case 501...: "UNAVAILABLE"
        default: "INVALID_ARGUMENT"
        }
    }

    /// - Parameters:
    ///   - message: for people; nil for one that says nothing.
    ///   - field: the field that is wrong; nil where the rejection's subject says it.
    static func make(_ rejection: MockRejection, message: String? = nil, field: String? = nil) -> [UInt8] {
        let isPlain = codes.contains(rejection.reason)
        var details: [[String: Any]] = []
        if !isPlain {
            details.append([
                "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": rejection.reason,
            ])
        }
        let subject = rejection.subject
        if rejection.reason == "QUOTA_EXCEEDED" || rejection.reason == "RESOURCE_EXHAUSTED" {
            details.append([
                "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                "violations": [
                    [
                        "subject": "\(subject ?? "project"):mock",
                        "description": "Quota exceeded for messages per \(subject ?? "project").",
                    ]
                ],
            ])
        } else if let field = field ?? subject.map({ "message.\($0)" }) {
            details.append([
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": [["field": field, "description": message ?? "Invalid value"]],
            ])
        }
        let error: [String: Any] = [
            "code": rejection.status, "message": message ?? "The mock refuses the request.",
            "status": isPlain ? rejection.reason : code(ofStatus: rejection.status), "details": details,
        ]
        let json = try? JSONSerialization.data(
            withJSONObject: ["error": error], options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        return Array(json ?? Data())
    }
}
