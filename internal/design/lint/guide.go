package lint

// Guide is the address of the developer guide, the source of most rules.
const guide = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"

// datesPage says how to store times.
const datesPage = guide + "HowItWorks.NamingRulesDataTypes.html (dates as ISO 8601 strings, or as epoch numbers)"
