// Package s3files is the layout of the service's exports in S3: the names of files and
// folders, the manifests with their checksums, and the lines of data files. The service's
// exports and imports (internal/api) and the command's are in this layout.
//
// An export is a folder with [SummaryFile], which has a [Summary] of it, [FilesFile] with
// a line for each [DataFile], a checksum beside either, and [DataFolder] with the data
// files, which a [Writer] writes. Source: DG/S3DataExport.Output.html.
package s3files
