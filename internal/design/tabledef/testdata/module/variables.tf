variable "project" { default = "shop" }
variable "stage" {
  type    = string
  default = "dev"
  validation {
    condition     = contains(["dev", "prod"], var.stage)
    error_message = "dev or prod, not \"${var.stage}\""
  }
}
variable "capacity" {
  type    = number
  default = 5
}
