import { useEffect, useState } from 'preact/hooks';
import { explain } from '../client/api.js';
import { size } from '../state/format.js';
import { useApp } from './context.js';
import { FileName } from './elements.js';

/** SVG is left out: it is a document, not a picture. */
const pictures = /^image\/(?:png|jpeg|gif|webp|avif)$/u;

/**
 * A stored file: a picture is shown, everything else is saved. It is fetched with the token, so it has an object URL.
 */
export const Artifact = ({
  id,
  name,
  mediaType,
}: {
  readonly id: string;
  readonly name: string | null;
  readonly mediaType: string | null;
}) => {
  const { station, fail } = useApp();
  const isPicture = mediaType !== null && pictures.test(mediaType);
  const [source, setSource] = useState<string>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    if (!isPicture) return;
    let url: string | undefined;
    let isGone = false;
    station.api.artifact(id).then(
      (blob) => {
        if (isGone) return;
        url = URL.createObjectURL(new Blob([blob], { type: mediaType }));
        setSource(url);
      },
      (error: unknown) => !isGone && setProblem(explain(error)),
    );
    return () => {
      isGone = true;
      if (url !== undefined) URL.revokeObjectURL(url);
    };
  }, [id, isPicture]);
  const save = (): void => {
    station.api.artifact(id).then((blob) => saveBlob(blob, name ?? id), fail);
  };
  if (problem !== undefined) return <p class="cut">{problem}</p>;
  if (isPicture && source !== undefined) {
    return (
      <figure class="picture">
        <img src={source} alt={name ?? 'Image of the conversation'} />
        {name !== null && (
          <figcaption>
            <FileName name={name} />
          </figcaption>
        )}
      </figure>
    );
  }
  if (isPicture) return <div class="picture loading" role="status" aria-label="Loading the image" />;
  return (
    <button type="button" class="quiet more" onClick={save}>
      Save {name ? <FileName name={name} /> : 'the whole output'}
    </button>
  );
};

export const saveBlob = (blob: Blob, name: string): void => {
  const url = URL.createObjectURL(new Blob([blob], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name.replaceAll(/[^\w.-]+/gu, '-').slice(0, 100);
  link.title = size(blob.size);
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
};
