variable "stage" {}

resource "aws_dynamodb_table" "orders" {
  name         = "orders-${var.stage}-tf"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "customer"
  range_key    = "placed"

  attribute {
    name = "customer"
    type = "S"
  }
  attribute {
    name = "placed"
    type = "N"
  }
}
