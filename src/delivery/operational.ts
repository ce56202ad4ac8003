/**
 * What an operational event is about: a noun and an ID, such as `job:<id>`. The `about` of other
 * messages is null or the ID of a person, which has no colon.
 */
export type Subject = `${'endpoint' | 'job' | 'monitor' | 'usage'}:${string}`

/** An event that Gatehouse publishes to a tenant about what belongs to the tenant. */
export interface OperationalEvent {
  tenantId: string
  type: string
  about: Subject
  /** Page of the console, below the tenant. */
  path: string
  /**
   * The payload, without the fields that all these events have; undefined if there is nothing to tell.
   * Called only if an endpoint subscribes, so that it may read the database.
   */
  fields: () => Record<string, unknown> | undefined
}

/** Publishes an event within the commit of the condition that it reports, if an endpoint subscribes to it. */
export type Tell = (event: OperationalEvent) => void

export interface AboutSubject {
  about?: string | null | undefined
}

/** Whether Gatehouse published a message itself, whatever its type: tenants may send the same types. */
export const isOperational = ({ about }: AboutSubject): boolean => about?.includes(':') ?? false

export const aboutEndpoint = (id: string): Subject => `endpoint:${id}`

/** The ID of the endpoint that a message is about, if it is about one. */
export const endpointAbout = ({ about }: AboutSubject): string | undefined =>
  about?.startsWith(ENDPOINT) ? about.slice(ENDPOINT.length) : undefined

const ENDPOINT = aboutEndpoint('')
