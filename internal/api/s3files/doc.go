// Package s3files defines the layout of exports in S3: the names of files and directories, the manifests with their
// checksums, and the lines of data files. The layout is that of DynamoDB. The operations for exports and imports
// (internal/api) and the sortkey command use it.
//
// An export is a directory that holds [SummaryFile] with a [Summary], [FilesFile] with a line for each [DataFile], a
// checksum file for each of these two, and [DataFolder] with the data files, which a [Writer] writes. Source:
// DG/S3DataExport.Output.html.
package s3files
