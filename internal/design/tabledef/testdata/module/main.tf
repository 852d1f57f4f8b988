terraform {
  required_providers { aws = { source = "hashicorp/aws" } }
}

locals {
  prefix = "${var.project}-${var.stage}" # a comment
  tags   = merge(var.tags, { "a}" = "b" })
}

/* The orders
   of all customers. */
resource "aws_dynamodb_table" "orders" {
  name           = "${local.prefix}-orders"
  billing_mode   = "PROVISIONED"
  read_capacity  = var.capacity
  write_capacity = 7
  hash_key       = "customer"
  range_key      = "placed"

  attribute {
    name = "customer"
    type = "S"
  }
  attribute {
    name = "placed"
    type = "N"
  }
  attribute {
    name = "status"
    type = "S"
  }

  global_secondary_index {
    name               = "by-status"
    hash_key           = "status"
    range_key          = "placed"
    projection_type    = "INCLUDE"
    non_key_attributes = [
      "total", // and nothing else
    ]
    read_capacity  = 1
    write_capacity = 1
  }
  local_secondary_index {
    name            = "by-status-of-customer"
    range_key       = "status"
    projection_type = "KEYS_ONLY"
  }
  ttl {
    attribute_name = "ends"
    enabled        = true
  }
  stream_enabled   = true
  stream_view_type = "NEW_IMAGE"
  tags = merge(local.tags, {
    Name = "x"
  })
  lifecycle { prevent_destroy = true }
}

resource "aws_dynamodb_table" "off" {
  count = 0
  name  = aws_kms_key.x.id
}

resource "aws_iam_policy" "p" {
  policy = <<-EOT
    { "a": "${aws_dynamodb_table.orders.arn}" }
  EOT
}
