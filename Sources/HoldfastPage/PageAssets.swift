/// A file of the operators' page, as it lies in `Assets/`.
package struct PageAsset: Sendable {
    /// The path without a slash at its beginning; empty for the page itself.
    package let path: String
    /// For `Content-Type`.
    package let type: String
    package let bytes: [UInt8]
}

/// The files of the operators' page. They are in the program, so that it stays one file.
package enum PageAssets {
    private static let script = "text/javascript; charset=utf-8"

    package static let all: [PageAsset] =
        [
            PageAsset(path: "", type: "text/html; charset=utf-8", bytes: PackageResources.index_html),
            PageAsset(path: "page/style.css", type: "text/css; charset=utf-8", bytes: PackageResources.style_css),
            PageAsset(path: "page/icon.svg", type: "image/svg+xml", bytes: PackageResources.icon_svg),
            PageAsset(path: "api/openapi.json", type: "application/json", bytes: PackageResources.openapi_json),
        ] + scripts.map { PageAsset(path: "page/\($0).js", type: script, bytes: $1) }

    private static let scripts: [(name: String, bytes: [UInt8])] = [
        ("app", PackageResources.app_js),
        ("api", PackageResources.api_js),
        ("chart", PackageResources.chart_js),
        ("dialog", PackageResources.dialog_js),
        ("dom", PackageResources.dom_js),
        ("format", PackageResources.format_js),
        ("live", PackageResources.live_js),
        ("pager", PackageResources.pager_js),
        ("place", PackageResources.place_js),
        ("remedies", PackageResources.remedies_js),
        ("sweep", PackageResources.sweep_js),
        ("view-blacklist", PackageResources.view_blacklist_js),
        ("view-campaigns", PackageResources.view_campaigns_js),
        ("view-entry", PackageResources.view_entry_js),
        ("view-fleet", PackageResources.view_fleet_js),
        ("view-journal", PackageResources.view_journal_js),
        ("view-lanes", PackageResources.view_lanes_js),
        ("view-overview", PackageResources.view_overview_js),
        ("view-rejections", PackageResources.view_rejections_js),
        ("view-schedule", PackageResources.view_schedule_js),
        ("view-senders", PackageResources.view_senders_js),
        ("view-service", PackageResources.view_service_js),
    ]
}
