import { initialOf } from '../../flows/name.ts'
import { Icon } from '../icons.tsx'
import type { Place } from './model.ts'

/** First letter of a tenant's name, or the icon of the installation. */
export const PlaceEmblem = ({ place }: { place: Place }) => (
  <span class={`emblem ${place.kind}`} aria-hidden="true">
    {place.kind === 'tenant' ? (initialOf(place.name) ?? '·') : <Icon name="tenants" />}
  </span>
)
