/** The parts of an OpenAPI document that the reference page shows. */
export interface ApiDocument {
  openapi: string
  info: { title: string; version: string; description: string }
  servers: { url: string }[]
  tags: { name: string; description: string; 'x-displayName': string }[]
  paths: Record<string, Record<string, ApiOperation>>
  components: {
    schemas: Record<string, JsonSchema>
    headers?: Record<string, ApiHeader>
    securitySchemes?: Record<string, { type: string; name?: string; [detail: string]: unknown }>
  }
}

export interface ApiOperation {
  summary?: string
  description?: string
  tags?: string[]
  /** Any entry is enough. An entry names a credential and the scopes that it must have. */
  security?: Record<string, string[]>[]
  parameters?: ApiParameter[]
  requestBody?: { required?: boolean; content?: Record<string, ApiContent> }
  responses?: Record<
    string,
    {
      description?: string
      headers?: Record<string, ApiHeader | { $ref: string }>
      content?: Record<string, ApiContent>
    }
  >
}

export interface ApiHeader {
  description: string
  schema: JsonSchema
}

export interface ApiParameter {
  name: string
  in: string
  required?: boolean
  schema?: JsonSchema
  example?: unknown
}

/** A body of one media type, with a valid example. */
export interface ApiContent {
  schema?: JsonSchema
  example?: unknown
}

export interface JsonSchema {
  $ref?: string
  type?: string | string[]
  description?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  /** Of the fields of a request, before they are in the document. */
  defaults?: Record<string, unknown>
  examples?: unknown[]
  expected?: string
  anyOf?: JsonSchema[]
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  required?: string[]
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  nullable?: boolean
}
