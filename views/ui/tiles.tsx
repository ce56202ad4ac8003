import type { ComponentChildren } from 'preact'
import type { Tone } from './status.tsx'

export interface Tile {
  label: string
  value: string
  /** Comparison, such as with the same hour a week ago. */
  compared?: { text: string; tone?: Tone }
  picture?: ComponentChildren
  href?: string
}

/** Key numbers, at the top of a page. */
export const Tiles = ({ label, tiles }: { label: string; tiles: readonly Tile[] }) => (
  <ul class="tiles" aria-label={label}>
    {tiles.map((tile) => (
      <li>
        <p class="tilelabel">
          {tile.href === undefined ? tile.label : <a href={tile.href}>{tile.label}</a>}
        </p>
        <p class="tilevalue">{tile.value}</p>
        {tile.compared && (
          <p class={`compared ${tile.compared.tone ?? 'quiet'}`}>{tile.compared.text}</p>
        )}
        {tile.picture}
      </li>
    ))}
  </ul>
)
