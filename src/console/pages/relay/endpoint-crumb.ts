import type { Endpoint } from '../../../engines/relay/model/endpoints.ts'

/** Breadcrumb of an endpoint. */
export const endpointCrumb = (base: string, { id, url }: Pick<Endpoint, 'id' | 'url'>) => ({
  label: url,
  href: `${base}/console/endpoints/${id}`,
})
