import { initialOf } from '../../flows/name.ts'
import { Icon } from '../icons.tsx'
import type { ScopeChoice } from './model.ts'

/** First letter of a tenant's name, or the icon of the installation. */
export const ScopeAvatar = ({ scope }: { scope: ScopeChoice }) => (
  <span class={`tenantavatar ${scope.kind}`} aria-hidden="true">
    {scope.kind === 'tenant' ? (initialOf(scope.name) ?? '·') : <Icon name="tenants" />}
  </span>
)
